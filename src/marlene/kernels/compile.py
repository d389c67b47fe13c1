"""The decorators that compile functions over arrays.

Numba's own cache checks only the file of a function and does not notice an edited callee in another file. Here the
cache folder is named after a hash of *all* kernel sources, so that an edit anywhere compiles every kernel again.
Folders of other sources are kept: other checkouts of the package may use them.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
from numba.core import caching

from marlene._common.files import user_cache
from marlene.kernels.linking import KernelCompiler, PartCompiler

if TYPE_CHECKING:
    from collections.abc import Callable

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}  # C never calls them
# Without _nrt a function does not count references, which takes half of the time of a kernel over many arrays. It
# borrows its arrays: it may neither make an array nor return one to a function that counts.
FOR_KERNELS_ONLY: dict[str, Any] = {"no_cpython_wrapper": True, "_nrt": False, "pipeline_class": PartCompiler}

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


class _CacheFiles(caching.CompileResultCacheImpl):
    _locator_classes: list[Any] = [_Locator]  # noqa: RUF012 (numba declares it so)


class _Cache(caching.FunctionCache):
    _impl_class = _CacheFiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401 (numba's own types)
        try:
            found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # noqa: BLE001 (a damaged cache file may raise anything; compiling anew mends it)
            found = None
            with contextlib.suppress(OSError):  # a damaged index would be read again, and refused, when saving
                self.flush()  # type: ignore[no-untyped-call]
        if found is None:
            _announce()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:  # noqa: ANN401
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            _warn_not_kept(error.strerror or str(error))


@functools.cache
def _warn_not_kept(reason: str) -> None:
    warnings.warn(f"compiled kernels are not kept: {reason}", RuntimeWarning, stacklevel=2)


@functools.cache
def _announce() -> None:
    if sys.stderr.isatty():
        print("compiling kernels, first run only", file=sys.stderr, flush=True)


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
    if cache_folder() is not None and Path(__file__).parent in Path(function.__code__.co_filename).parents:
        # What njit(cache=True) does, with our class.
        compiled._cache = _Cache(compiled.py_func)  # type: ignore[no-untyped-call]  # noqa: SLF001
    return cast("Function", compiled)


def borrower(function: Function) -> Function:
    """Compile a `kernel` that does not count references: it may call functions that return arrays, but make none."""
    return kernel(function, counting=False)


def subkernel(function: Function) -> Function:
    """Compile a function that only kernels call; the cache keeps it as part of them.

    It has no entry from Python, which for many arrays takes longer to compile than the rest. It may neither make an
    array nor return one to a `kernel`.
    """
    return cast("Function", numba.njit(**OPTIONS, **FOR_KERNELS_ONLY)(function))


def inlined(function: Function) -> Function:
    """Compile a small function of an inner loop into every `kernel` or `subkernel` that calls it.

    A call that is not inlined copies the descriptors of all its arrays.
    """
    return cast("Function", numba.njit(**OPTIONS, **FOR_KERNELS_ONLY, forceinline=True)(function))
