"""The cache of compiled kernels, seen from processes that share it or have to do without it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import marlene
from marlene.kernels.compile import baseline

BASELINE = {"NUMBA_CPU_NAME": baseline().name, "NUMBA_CPU_FEATURES": ""}
NOTICE = "compiling kernels, once per version\n"
# A kernel that calls another one in a file of its own, in a copy of the package.
PACKAGE = Path(marlene.__file__).parent
CALLEE = """from marlene.kernels.compile import kernel
@kernel
def callee(x):
    return x + 1.0
"""
CALLER = """from marlene.kernels.callee import callee
from marlene.kernels.compile import kernel
@kernel
def caller(x):
    return 2.0 * callee(x)
"""
PROGRAM = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from marlene.kernels.caller import caller
    print(caller(3.0))
print(sum(caller.stats.cache_misses.values()), sum(caller.stats.cache_hits.values()))
print([f"{w.category.__name__}: {w.message}" for w in caught])
"""
COMPILER = ("__init__", "compile", "linking", "lowering", "pipeline", "shortcuts")


@pytest.fixture
def package(tmp_path):
    kernels = tmp_path / "package" / "marlene" / "kernels"
    shutil.copytree(PACKAGE / "_common", kernels.parent / "_common")
    kernels.mkdir()
    for file in ("__init__.py", *(f"kernels/{name}.py" for name in COMPILER)):
        shutil.copy(PACKAGE / file, kernels.parent / file)
    (kernels / "callee.py").write_text(CALLEE)
    (kernels / "caller.py").write_text(CALLER)
    return kernels


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def run(package, cache, program=PROGRAM, **variables):
    """Return what the kernel gave, cache misses, cache hits and warnings of a process of its own."""
    environment = os.environ | {"MARLENE_CACHE": str(cache), "PYTHONPATH": str(package.parents[1])} | variables
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr in ("", NOTICE)  # the latter where the machine is busy
    value, counts, warned = done.stdout.splitlines()
    return float(value), *map(int, counts.split()), warned


def compiled(cache):
    return {path.relative_to(cache): path.stat().st_mtime_ns for path in cache.rglob("*.nb[ic]")}


@pytest.mark.parametrize("decorator", ["kernel", "subkernel", "inlined"])
def test_an_edited_callee_of_any_sort_is_noticed(package, cache, decorator):
    callee = CALLEE.replace("import kernel\n@kernel", f"import {decorator}\n@{decorator}")
    found = []
    for number in ("1.0", "2.0", "1.0"):
        (package / "callee.py").write_text(callee.replace("1.0", number))
        value, misses, _, _ = run(package, cache)
        found.append((value, misses))
    assert found == [(8.0, 1), (10.0, 1), (8.0, 0)]


def test_a_second_process_compiles_nothing(package, cache):
    assert run(package, cache) == (8.0, 1, 0, "[]")
    kept = compiled(cache)
    assert any(path.suffix == ".nbc" for path in kept)
    assert run(package, cache) == (8.0, 0, 1, "[]")
    assert compiled(cache) == kept


def test_any_edited_file_is_noticed(package, cache):
    assert run(package, cache)[0] == 8.0
    first = compiled(cache)
    (package / "callee.py").write_text(CALLEE.replace("1.0", "2.0"))
    assert run(package, cache) == (10.0, 1, 0, "[]")
    assert first.items() < compiled(cache).items()
    (package / "unrelated.py").write_text("# a file that no kernel uses")
    assert run(package, cache) == (10.0, 1, 0, "[]")
    (package / "unrelated.py").unlink()
    (package / "callee.py").write_text(CALLEE)
    assert run(package, cache) == (8.0, 0, 1, "[]")


@pytest.mark.parametrize("folder", ["file/below", "x" * 300], ids=["below a file", "too long a name"])
def test_a_folder_that_cannot_be_used_costs_one_warning(package, tmp_path, folder):
    (tmp_path / "file").touch()
    value, _, hits, warned = run(package, tmp_path / folder)
    assert (value, hits) == (8.0, 0)
    assert warned.count("RuntimeWarning: compiled kernels are not kept") == warned.count("Warning:") == 1
    assert "set MARLENE_CACHE to a folder that can be written" in warned


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", ["empty", "garbage", "cut off"])
def test_damaged_files_are_mended(package, cache, suffix, damage):
    run(package, cache)
    for path in cache.rglob("*" + suffix):
        content = path.read_bytes()
        path.write_bytes({"empty": b"", "garbage": b"garbage\n", "cut off": content[: len(content) // 2]}[damage])
    assert run(package, cache) == (8.0, 1, 0, "[]")
    assert run(package, cache) == (8.0, 0, 1, "[]")


def test_a_disk_that_is_full_when_kernels_are_kept(package, cache):
    full = """
import errno
from numba.core import caching
def save(*_):
    raise OSError(errno.ENOSPC, "No space left on device")
caching.IndexDataCacheFile.save = save
"""
    value, _, hits, warned = run(package, cache, full + PROGRAM)
    assert (value, hits) == (8.0, 0)
    assert warned.count("RuntimeWarning: compiled kernels are not kept: No space left on device") == 1


@pytest.fixture
def carried(package, cache):
    """Let the package carry a kernel that is compiled for the baseline."""
    run(package, cache, **BASELINE)
    (cache / "kernels").rename(package / "compiled")
    return package


def test_what_the_package_carries_is_not_compiled(carried, cache, tmp_path):
    (tmp_path / "file").touch()
    for folder in (cache, tmp_path / "file" / "below"):
        assert run(carried, folder) == (8.0, 0, 1, "[]")
    assert compiled(cache) == {}


LACKING = """
from marlene.kernels import compile
lacking = compile.baseline()._replace(features=("no processor has it",))
compile.baseline = lambda: lacking
"""


@pytest.mark.parametrize("program", [LACKING + PROGRAM, PROGRAM], ids=["a feature is missing", "another processor"])
def test_for_other_processors_kernels_are_compiled_anew(carried, cache, program):
    variables = BASELINE if program == PROGRAM else {}
    assert run(carried, cache, program, **variables) == (8.0, 1, 0, "[]")
    assert run(carried, cache, program, **variables) == (8.0, 0, 1, "[]")


def test_other_sources_than_those_of_carried_kernels_are_compiled_anew(carried, cache):
    (carried / "callee.py").write_text(CALLEE.replace("1.0", "2.0"))
    assert run(carried, cache) == (10.0, 1, 0, "[]")


def test_carried_files_that_are_damaged_are_compiled_anew(carried, cache):
    for path in carried.rglob("*.nbc"):
        path.write_bytes(b"garbage\n")
    assert run(carried, cache) == (8.0, 1, 0, "[]")
    assert run(carried, cache) == (8.0, 0, 1, "[]")


SLOW = """
import sys
from marlene.kernels import linking
linking.PATIENCE = float(sys.argv[1])
if sys.argv[2] == "silent":
    import logging
    logging.getLogger("marlene").setLevel(logging.ERROR)
from marlene.kernels.callee import callee
from marlene.kernels.caller import caller
caller(3.0), callee(3), caller(3)
"""


@pytest.mark.parametrize(
    ("patience", "logging", "said"), [("0", "usual", NOTICE), ("0", "silent", ""), ("inf", "usual", "")]
)
def test_a_long_time_of_compiling_is_announced_once(package, cache, patience, logging, said):
    environment = os.environ | {"MARLENE_CACHE": str(cache), "PYTHONPATH": str(package.parents[1])}
    command = [sys.executable, "-c", SLOW, patience, logging]
    for expected in (said, ""):  # the second process compiles nothing
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert (done.stdout, done.stderr) == ("", expected)


def test_functions_of_other_files_are_not_kept(package, cache):
    program = """
from marlene.kernels.compile import kernel
@kernel
def own(x):
    return x
print(own(1.0))
print(0, 0)
print([])
"""
    assert run(package, cache, program)[0] == 1.0
    assert compiled(cache) == {}


def test_a_kernel_of_the_package_gives_the_same_bits_with_and_without_cache_and_for_the_baseline(tmp_path):
    program = """
from marlene.kernels.scores import gmean
print(*(gmean(float(a), 1.0, 2.0, 3.0).hex() for a in range(9)))
"""
    given = set()
    (tmp_path / "file").touch()
    for folder, variables in (("cache", {}), ("cache", {}), ("file/below", {}), ("other", BASELINE)):
        environment = (
            os.environ
            | variables
            | {
                "MARLENE_CACHE": str(tmp_path / folder),
                "PYTHONPATH": str(PACKAGE.parent),
                "PYTHONWARNINGS": "ignore",
            }
        )
        command = [sys.executable, "-c", program]
        given.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(given) == 1


CHECKED = """
import numpy as np
from marlene.kernels.compile import inlined, kernel, subkernel


@inlined
def read(array, place):
    return array[place]


@subkernel
def middle(array, place):
    return read(array, place)


@kernel
def outer(array, place):
    return middle(array, place)


try:
    print(outer(np.zeros(3), 2), outer(np.zeros(3), 3))
except IndexError as error:
    print(error)
"""


def test_indices_can_be_checked_in_all_parts_of_a_kernel(tmp_path):
    program = tmp_path / "checked.py"
    program.write_text(CHECKED)
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "MARLENE_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "index is out of bounds\n"
