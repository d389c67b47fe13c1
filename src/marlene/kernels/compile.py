"""The decorators that compile functions over arrays.

Numba's own cache checks only the file of a function and does not notice an edited callee in another file. Here the
cache folder is named after a hash of *all* kernel sources, so that an edit anywhere compiles every kernel again.
Folders of other sources are kept: other checkouts of the package may use them.

A wheel may carry kernels that were compiled for a baseline of processors (`tools/wheel.py`). They are used where they
fit. Like the files of the cache they are pickles that Numba loads. They are part of the installed package, and as
trustworthy as its code.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numba
from llvmlite import binding  # type: ignore[import-untyped]
from numba.core import caching
from numba.core import config as untyped_config
from numba.core import types as untyped_types

from marlene._common.files import user_cache
from marlene.kernels.linking import KernelCompiler, PartCompiler

if TYPE_CHECKING:
    from collections.abc import Callable

config: Any = untyped_config
types: Any = untyped_types
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}  # C never calls them
# Without _nrt a function does not count references, which takes half of the time of a kernel over many arrays. It
# borrows its arrays: it may neither make an array nor return one to a function that counts.
FOR_KERNELS_ONLY: dict[str, Any] = {"no_cpython_wrapper": True, "_nrt": False, "pipeline_class": PartCompiler}
AS_WRITTEN: dict[str, Any] = {"_dbg_optnone": True}

Function = TypeVar("Function", bound="Callable[..., Any]")


@functools.cache
def sources_hash() -> str:
    """Return a hash of every source file of the kernels."""
    digest = hashlib.sha256(numba.__version__.encode())
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path | None:
    """Return the folder of compiled kernels; None, with one warning, if it cannot be used."""
    folder = user_cache("kernels", sources_hash())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        if os.access(folder, os.R_OK) and any(folder.glob("*.nbi")):
            return folder
        warnings.warn(
            f"compiled kernels are not kept: {folder} cannot be used ({error.strerror}); "
            "set MARLENE_CACHE to a folder that can be written",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return folder


class Baseline(NamedTuple):
    """The processors that kernels in a wheel are compiled for, as LLVM names them."""

    name: str
    features: tuple[str, ...]
    """What a processor must have to run them."""


V3 = "avx avx2 bmi bmi2 cx16 f16c fma lzcnt movbe popcnt sahf sse3 sse4.1 sse4.2 ssse3 xsave"
BASELINES = {"x86_64": Baseline("x86-64-v3", tuple(V3.split())), "aarch64": Baseline("generic", ())}
BASELINES |= {"AMD64": BASELINES["x86_64"], "arm64": BASELINES["aarch64"]}  # the same elsewhere


def baseline() -> Baseline | None:
    """Return what kernels in a wheel for a machine like this one are compiled for; None: there are none."""
    return BASELINES.get(platform.machine())


@functools.cache
def carried_folder() -> Path | None:
    """Return the folder of compiled kernels that came with the package, if they fit its sources and the processor."""
    folder, wanted = Path(__file__).parent / "compiled" / sources_hash(), baseline()
    if wanted is None or not folder.is_dir() or config.CPU_NAME or config.CPU_FEATURES:
        return None
    found = binding.get_host_cpu_features() if wanted.features else {}
    return folder if all(found.get(feature, False) for feature in wanted.features) else None


class _Locator(caching._CacheLocator):  # noqa: SLF001 (numba offers no public class)
    """Puts the files of every kernel into `cache_folder`, under its qualified name."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        self._name = f"{py_func.__module__}.{py_func.__qualname__}"

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return sources_hash()

    def get_disambiguator(self) -> str:
        return hashlib.sha256(self._name.encode()).hexdigest()[:10]

    def ensure_cache_path(self) -> None:
        """Do nothing: `cache_folder` made it."""

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:  # noqa: ARG003
        return cls(py_func)


class _CarriedLocator(_Locator):
    """Finds the files of every kernel in `carried_folder`."""

    def get_cache_path(self) -> str:
        return str(carried_folder())


class _CacheFiles(caching.CompileResultCacheImpl):
    _locator_classes: list[Any] = [_Locator]  # noqa: RUF012 (numba declares it so)


class _CarriedFiles(caching.CompileResultCacheImpl):
    _locator_classes: list[Any] = [_CarriedLocator]  # noqa: RUF012


class _Kept(caching.FunctionCache):
    """What was compiled on this machine."""

    _impl_class = _CacheFiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401 (numba's own types)
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # noqa: BLE001 (a damaged cache file may raise anything; compiling anew mends it)
            with contextlib.suppress(OSError):  # a damaged index would be read again, and refused, when saving
                self.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, sig: Any, data: Any) -> None:  # noqa: ANN401
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            _warn_not_kept(error.strerror or str(error))


class _Carried(caching.FunctionCache):
    """What came with the package."""

    _impl_class = _CarriedFiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401
        with contextlib.suppress(Exception):  # files that are damaged or cannot be read are as good as none
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        return None

    def _index_key(self, sig: Any, codegen: Any) -> Any:  # noqa: ANN401
        """Return the key of the same code for the baseline."""
        found, (triple, _, _), code = super()._index_key(sig, codegen)  # type: ignore[no-untyped-call]
        wanted = baseline()
        return found, (triple, wanted and wanted.name, ""), code


class _Cache(caching._Cache):  # noqa: SLF001
    """The compiled forms of one kernel: those that came with the package, or else those made here.

    No folder is made and nothing is complained of as long as the former will do.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @functools.cached_property
    def _carried(self) -> _Carried | None:
        return _Carried(self._function) if carried_folder() is not None else None  # type: ignore[no-untyped-call]

    @functools.cached_property
    def _kept(self) -> _Kept | None:
        return _Kept(self._function) if cache_folder() is not None else None  # type: ignore[no-untyped-call]

    @property
    def cache_path(self) -> str | None:
        folder = carried_folder() or cache_folder()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401
        found = self._carried and self._carried.load_overload(sig, target_context)
        return found or (self._kept and self._kept.load_overload(sig, target_context))

    def save_overload(self, sig: Any, data: Any) -> None:  # noqa: ANN401
        if self._kept is not None:
            self._kept.save_overload(sig, data)

    def enable(self) -> None:
        """Do nothing: it always is."""

    def disable(self) -> None:
        """Do nothing: nobody asks for it."""

    def flush(self) -> None:
        """Do nothing: nobody asks for it."""


@functools.cache
def _warn_not_kept(reason: str) -> None:
    warnings.warn(f"compiled kernels are not kept: {reason}", RuntimeWarning, stacklevel=2)


def kernel(function: Function, counting: bool = True) -> Function:
    """Compile `function` at its first call; it runs without the interpreter's lock and uses the cache described above.

    `fastmath` is off: for a seed, results must be the same to the bit. A division by zero gives what NumPy gives.

    Examples
    --------
    >>> import numpy as np
    >>> @kernel
    ... def total(values):
    ...     result = 0.0
    ...     for value in values:
    ...         result += value
    ...     return result
    >>> total(np.array([1.0, 2.0]))
    3.0
    """
    options = OPTIONS if counting else {**OPTIONS, "_nrt": False}
    compiled: Any = numba.njit(**options, pipeline_class=KernelCompiler)(function)
    if Path(__file__).parent in Path(function.__code__.co_filename).parents:
        compiled._cache = _Cache(compiled.py_func)  # noqa: SLF001 (what njit(cache=True) does, with our class)
    return cast("Function", compiled)


def borrower(function: Function) -> Function:
    """Compile a `kernel` that does not count references: it may call functions that return arrays, but make none."""
    return kernel(function, counting=False)


def _once_for_all_constants(compiled: Any) -> Any:  # noqa: ANN401 (numba's dispatcher)
    """Let a call with a constant take the same code as any other; Numba compiles a function for each constant."""
    resolve = compiled.get_call_template

    def resolved(args: Any, keywords: Any) -> Any:  # noqa: ANN401 (numba's own types)
        return resolve([types.unliteral(arg) for arg in args], {k: types.unliteral(v) for k, v in keywords.items()})

    compiled.get_call_template = resolved
    return compiled


def subkernel(function: Function) -> Function:
    """Compile a function that only kernels call; the cache keeps it as part of them.

    It has no entry from Python, which for many arrays takes longer to compile than the rest. It may neither make an
    array nor return one to a `kernel`.
    """
    return cast("Function", _once_for_all_constants(numba.njit(**OPTIONS, **FOR_KERNELS_ONLY)(function)))


def rare(function: Function) -> Function:
    """Compile a `subkernel` that few examples need. It is left as it is written, which makes compiling quicker."""
    return cast("Function", _once_for_all_constants(numba.njit(**OPTIONS, **FOR_KERNELS_ONLY, **AS_WRITTEN)(function)))


def inlined(function: Function) -> Function:
    """Compile a small function of an inner loop into every `kernel` or `subkernel` that calls it.

    A call that is not inlined copies the descriptors of all its arrays.
    """
    compiled = numba.njit(**OPTIONS, **FOR_KERNELS_ONLY, forceinline=True)(function)
    return cast("Function", _once_for_all_constants(compiled))
