"""Streams on which much happens within few examples, and ways to look at a learner."""

import json

import numpy as np

from marlene._common.states import state_bytes
from marlene.drift import DDMOCIBank
from marlene.kernels.decisions.cuts import PULL
from marlene.learners import BRMarlene, BRPWMarlene, BRResampled

LEARNERS = [BRMarlene, BRResampled, BRPWMarlene]


def sensitive():
    """Return detectors that signal often, by the published rule."""
    return DDMOCIBank(strict=False)


def drifting(n=300, n_labels=3, seed=0):
    """Return rows with many zeros and one binary column, and labels whose rule changes twice."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.6)
    X[:, 4] = rng.random(n) < 0.3
    weights = rng.normal(size=(3, 5, n_labels))
    concept = np.arange(n) * 3 // n
    Y = np.einsum("nf,nfl->nl", X, weights[concept]) > 0.3
    return X, Y.astype(np.int8)


def dicts(X, names=None):
    """Return rows as dictionaries."""
    keys = range(X.shape[1]) if names is None else names
    return [dict(zip(keys, row, strict=True)) for row in X.tolist()]


def truths(Y, names=None):
    """Return rows of labels as dictionaries without those that are not known."""
    keys = range(Y.shape[1]) if names is None else names
    return [{name: bool(v) for name, v in zip(keys, row, strict=True) if v >= 0} for row in Y.tolist()]


def learn_singly(model, X, Y, stream=None):
    """Learn rows as dictionaries, one at a time."""
    for x, y in zip(dicts(X), truths(Y), strict=True):
        model.learn_one(x, y, stream=stream)


def contents(model):
    """Return everything a learner knows as bytes."""
    return state_bytes(*model.state())


def changed_headers(header, replacement):
    """Give a copy of a JSON header for every value in it, with that value replaced."""
    for path in _paths(header):
        changed = json.loads(json.dumps(header))
        place = changed
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = replacement
        yield changed


def _paths(value, path=()):
    if path:
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in entries:
        yield from _paths(part, (*path, key))


def shapes(model):
    """Return the shapes of all arrays of a `Marlene`, but for the lists of its window, which follow the rows in it."""
    lists = {"neighbours.where", "neighbours.value"}
    return {name: array.shape for name, array in model.state()[1].items() if name not in lists}


def predicted_by(scores, thresholds):
    """Return the predictions that follow from scores and `thresholds()`: labels of an example compete."""
    odds, cut = np.log(scores / (1 - scores)), np.array(thresholds)
    cut = np.log(cut / (1 - cut))
    lowered = odds - PULL * np.maximum(odds.max(axis=1, keepdims=True), 0)
    return lowered >= np.where(cut > 0, (1 - PULL) * cut, cut)
