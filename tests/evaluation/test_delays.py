"""Labels that arrive each with its own delay, out of order, or never."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.evaluation import prequential
from marlene.streams import load
from tests.cli.commands import caller

STREAM = load("yeast", limit=60)


def model():
    return Marlene(base="naive-bayes")


def by_hand(delays):
    """Return the predictions of a loop that looks through all examples at every step."""
    mine, found = model(), []
    mine.declare(STREAM.features, STREAM.labels)
    for t in range(len(STREAM)):
        found.append(mine.predict_proba_many(STREAM.X[[t]])[0])
        for i in range(len(STREAM)):
            if delays[i] >= 0 and i + delays[i] == t:
                mine.learn_many(STREAM.X[[i]], STREAM.Y[[i]])
    return np.array(found, np.float32)


@settings(max_examples=10)
@given(st.lists(st.integers(-1, 20), min_size=60, max_size=60))
def test_labels_are_learnt_in_the_order_of_their_arrival(delays):
    result = prequential(model(), STREAM, delay=delays)
    np.testing.assert_array_equal(result.proba, by_hand(delays))
    assert result.delay == -1


@pytest.mark.parametrize("delay", [0, 1, 7, 100])
def test_the_same_delay_for_all(delay):
    one, many = model(), model()
    expected = prequential(one, STREAM, delay=delay)
    found = prequential(many, STREAM, delay=np.full(60, delay))
    np.testing.assert_array_equal(found.proba, expected.proba)
    assert found.scores == expected.scores
    for array, other in zip(one.state()[1].values(), many.state()[1].values(), strict=True):
        np.testing.assert_array_equal(array, other)


def test_a_function_of_the_example():
    found = prequential(model(), STREAM, delay=lambda number, x: None if number % 2 else int(len(x) > 1000))
    expected = prequential(model(), STREAM, delay=[-1 if number % 2 else 0 for number in range(60)])
    np.testing.assert_array_equal(found.proba, expected.proba)


def test_a_run_with_delays_resumes(tmp_path):
    delays = np.arange(60) % 7 - 1
    whole = prequential(model(), STREAM, delay=delays)
    options = {"delay": delays, "checkpoint": tmp_path / "run.npz", "every": 20}
    prequential(model(), STREAM, callbacks=[lambda progress: progress.done >= 40], **options)
    found = prequential(model(), STREAM, **options)
    np.testing.assert_array_equal(found.proba, whole.proba)
    with pytest.raises(MarleneError, match="differs in delay"):
        prequential(model(), STREAM, **{**options, "delay": delays[::-1]})


@pytest.mark.parametrize(
    ("delay", "said"),
    [
        ([1, 2], "expected one for each of 60 examples"),
        ([-2] * 60, r"delay\[0\] is -2"),
        ([0.5] * 60, r"delay\[0\] is 0.5"),
        (["a"] * 60, "something that is not a number"),
        (-1, "delay must be a whole number"),
    ],
)
def test_wrong_delays(delay, said):
    with pytest.raises(MarleneError, match=said):
        prequential(model(), STREAM, delay=delay)


def test_delays_in_a_file(tmp_path, capsys):
    call, file = caller(capsys), tmp_path / "delays.txt"
    file.write_text("\n".join(["", "3", "never"] * 20))
    done = call("run", "yeast", "--method", "majority", "--limit", "60", "--delay", file, "--json")
    assert done.code == 0, done.err
    file.write_text("3\nsoon\n")
    refused = call("run", "yeast", "--method", "majority", "--limit", "60", "--delay", file)
    assert (refused.code, refused.err.count("line 2: expected a number of examples, or never, found 'soon'")) == (2, 1)
