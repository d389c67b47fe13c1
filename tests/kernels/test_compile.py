"""The cache of compiled kernels, seen from processes that share it or have to do without it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import marlene

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


@pytest.fixture
def package(tmp_path):
    kernels = tmp_path / "package" / "marlene" / "kernels"
    shutil.copytree(PACKAGE / "_common", kernels.parent / "_common")
    kernels.mkdir()
    for file in ("__init__.py", "kernels/__init__.py", "kernels/compile.py"):
        shutil.copy(PACKAGE / file, kernels.parent / file)
    (kernels / "callee.py").write_text(CALLEE)
    (kernels / "caller.py").write_text(CALLER)
    return kernels


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def run(package, cache, program=PROGRAM):
    """Return what the kernel gave, cache misses, cache hits and warnings of a process of its own."""
    environment = os.environ | {"MARLENE_CACHE": str(cache), "PYTHONPATH": str(package.parents[1])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
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


def test_a_kernel_of_the_package_gives_the_same_bits_with_and_without_cache(tmp_path):
    program = """
from marlene.kernels.scores import gmean
print(*(gmean(float(a), 1.0, 2.0, 3.0).hex() for a in range(9)))
"""
    given = set()
    (tmp_path / "file").touch()
    for folder in ("cache", "cache", "file/below"):
        environment = os.environ | {
            "MARLENE_CACHE": str(tmp_path / folder),
            "PYTHONPATH": str(PACKAGE.parent),
            "PYTHONWARNINGS": "ignore",
        }
        command = [sys.executable, "-c", program]
        given.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(given) == 1
