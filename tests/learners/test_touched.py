"""Columns are copied by the inputs learnt since the last time; sweeping all inputs gives the same."""

import numpy as np
import scipy.sparse as sp

from marlene import Marlene

EXAMPLES, FEATURES, WORDS, LABELS = 1500, 4000, 8, 3


def _stream(seed):
    """Labels have words of their own and change places twice; most inputs are rare."""
    rng = np.random.default_rng(seed)
    columns = np.sort(FEATURES // WORDS * np.arange(WORDS) + rng.integers(0, FEATURES // WORDS, (EXAMPLES, WORDS)))
    columns[:, 0] = rng.integers(0, 2 * LABELS, EXAMPLES)
    starts = np.arange(0, columns.size + 1, WORDS)
    X = sp.csr_array((np.ones(columns.size), columns.ravel(), starts), shape=(EXAMPLES, FEATURES))
    change = np.arange(EXAMPLES) // (EXAMPLES // 3)
    Y = (columns[:, :1] + change[:, None]) % LABELS == np.arange(LABELS)
    return X, Y.astype(np.int8)


def _learnt(model, X, Y, after_each):
    found = []
    for row in range(EXAMPLES):
        if row:
            found.append(model.predict_proba_many(X[[row]])[0])
        model.learn_many(X[[row]], Y[[row]])
        after_each(model, row)
    return np.array(found), model.state()


def test_lists_of_inputs_change_nothing():
    X, Y = _stream(1)

    def forget(model, _):
        model._tracker._model = None  # new work space: nothing is known of what was learnt

    def signal(model, row):
        if row % 400 == 399:
            model.signal_drift([1])

    kept, (_, mine) = _learnt(Marlene(), X, Y, signal)
    swept, (_, theirs) = _learnt(Marlene(), X, Y, lambda model, row: (signal(model, row), forget(model, row)))
    assert np.array_equal(kept, swept)
    assert mine.keys() == theirs.keys()
    assert all(np.array_equal(mine[name], theirs[name]) for name in mine)
    taken = next(array for name, array in mine.items() if name.endswith("taken"))
    assert taken[:LABELS].min() >= 4
    assert not taken[LABELS:].any()
    assert len(np.unique(X.indices)) > 400 * WORDS  # more than were learnt between two snapshots in a place
