"""States of a forest that nobody saved: damaged at random, and whether a forest made of one still works."""

import functools

import numpy as np

from marlene._common.errors import MarleneError
from marlene.trees import HoeffdingForest
from tests.trees.streams import KINDS, coded, sample

EXTREMES = (-(2**63), -(2**31), -100, -2, -1, 0, 1, 2, 3, 7, 8, 9, 47, 48, 63, 64, 1000, 2**31 - 1, 2**32, 2**40, 2**62)
FLOATS = (*map(float, EXTREMES), 0.5, 1e-320, 1e-300, 1e300, -1e300, np.inf, -np.inf, np.nan)


@functools.cache
def sound_forest(missing):
    """Return a forest of three trees, one of them untrained, and the stream it learnt."""
    data = sample(3, KINDS, 500, 3, missing=missing)
    forest = HoeffdingForest(data.kinds, n_classes=3, grace_period=60, delta=0.05, tie_threshold=0.2)
    forest.add(3)
    forest.learn_many([0, 2], data.X, np.column_stack([data.y, (data.y + 1) % 3]), 1)
    return forest, data


def other_number(array, rng):
    """Return a number of an array's type: an extreme one, or one close to those in the array."""
    near = rng.choice(array.ravel()).item() + int(rng.integers(-3, 4))
    if array.dtype.kind == "f":
        return FLOATS[rng.integers(len(FLOATS))] if rng.random() < 0.5 else near
    number = EXTREMES[rng.integers(len(EXTREMES))] if rng.random() < 0.5 else near
    limits = np.iinfo(array.dtype)
    return min(max(number, limits.min), limits.max)


def damaged(state, rng):
    """Return a copy of a state with a few numbers changed, rows exchanged, or an array cut or doubled."""
    state = {name: array.copy() for name, array in state.items()}
    for _ in range(rng.integers(1, 4)):
        array = state[name := rng.choice(sorted(state))]
        if array.size == 0:
            continue
        sort = rng.integers(0, 10)
        if sort == 0:
            state[name] = array[: rng.integers(0, len(array) + 1)]
        elif sort == 1:
            state[name] = np.concatenate([array, array[: rng.integers(0, len(array) + 1)]])
        elif sort == 2:
            a, b = rng.integers(0, len(array), 2)
            array[[a, b]] = array[[b, a]]
        else:
            array[tuple(rng.integers(0, size) for size in array.shape)] = other_number(array, rng)
    return state


def use(state, settings, data):
    """Make a forest of a state and use it in every way; return whether the state was accepted."""
    try:
        forest = HoeffdingForest.from_state(state, settings)
    except MarleneError:
        return False
    same = np.array_equal(forest.kinds, coded(data.kinds))
    X = data.X if same else np.zeros((len(data.X), len(forest.kinds)))
    forest.votes_many(X)
    forest.learn_many(forest.ids, X, data.y, data.w)
    forest.learn_many(forest.ids, np.nan_to_num(X), (data.y + 1) % 3, data.w)
    for tree in forest.ids:
        forest.rules(tree)
        forest.feature_use(tree)
    forest.state()
    forest.add(2)
    forest.remove(forest.ids[::2])
    forest.learn_many(forest.ids, X, data.y)
    forest.remove(forest.ids)
    return True
