"""The forest in processes of its own: compiled once, the same bits wherever it was compiled, within its arrays."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import marlene
from marlene.kernels import compile as compiling
from marlene.trees import HoeffdingForest
from tests.trees.damage import damaged, sound_forest, use
from tests.trees.streams import KINDS, sample

PACKAGE = Path(marlene.__file__).parent
PROGRAM = """
import json
from marlene.kernels.forest import branches
from marlene.kernels.forest import trees as forest
from tests.kernels.test_forest_cache import results
given = results()
kernels = (forest.run_block, forest.rebuild_index, forest.remove_tree, branches.new_space)
misses = sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels)
hits = sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels)
print(json.dumps([given, misses, hits]))
"""


def results():
    """Return hashes of the votes and states of forests over streams of every kind, damaged states among them."""
    given = []
    for seed, missing in ((1, 0.0), (2, 0.05)):
        data = sample(seed, KINDS * 2, 800, 4, missing=missing)
        for rule in ("majority", "naive_bayes", "adaptive"):
            forest = HoeffdingForest(
                data.kinds, n_classes=4, grace_period=40, delta=0.1, tie_threshold=0.3, leaf_prediction=rule
            )
            forest.add(2)
            votes = forest.test_then_train([1], data.X, data.y, data.w)
            again = HoeffdingForest.from_state(forest.state(), forest.settings())
            votes += again.votes_many(data.X, [1])
            state = b"".join(array.tobytes() for array in forest.state().values())
            forest.remove([0, 1])
            given.append(hashlib.sha256(votes.tobytes() + state).hexdigest())
    for seed in range(60):
        forest, data = sound_forest(0.1 * (seed % 2))
        given.append(use(damaged(forest.state(), np.random.default_rng(seed)), forest.settings(), data))
    return given


def run(cache, program, path, **variables):
    environment = os.environ | {"MARLENE_CACHE": str(cache), "PYTHONPATH": os.pathsep.join(map(str, path))} | variables
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_second_process_compiles_nothing_and_nothing_leaves_its_bounds(tmp_path):
    # The first process compiles afresh and with a check of every index; here, the kernels come from the usual cache.
    path = (PACKAGE.parent, Path(__file__).parents[2])
    runs = [json.loads(run(tmp_path / "cache", PROGRAM, path, NUMBA_BOUNDSCHECK="1")) for _ in range(2)]
    (first, misses, _), (second, misses_again, hits) = runs
    assert misses >= 3
    assert (misses_again, hits) == (0, 3)
    assert first == second == results()


@pytest.mark.parametrize("name", ["tables.py", "observers.py", "leaves.py", "splits.py", "state.py"])
def test_every_file_of_the_forest_is_part_of_the_key(tmp_path, monkeypatch, name):
    copy = tmp_path / "kernels"
    shutil.copytree(PACKAGE / "kernels", copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(compiling, "__file__", str(copy / "compile.py"))
    of_copy = compiling.sources_hash.__wrapped__
    assert of_copy() == compiling.sources_hash()
    with (copy / "forest" / name).open("a") as file:
        file.write("\n")
    assert of_copy() != compiling.sources_hash()
