"""Words get columns in the order of their appearance, whatever the blocks."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.encoders import TextEncoder, words_of
from tests.naive import words as naive

TEXTS = st.lists(
    st.one_of(st.none(), st.text(max_size=30), st.text("ab _-é\u0301ß’İ1,\ud800\0 A", max_size=30)), max_size=12
)


def rows(encoded):
    starts, columns = encoded
    return [columns[begin:end].tolist() for begin, end in pairwise(starts)]


@given(TEXTS, st.booleans(), st.integers(1, 20))
def test_against_naive(texts, pairs, limit):
    encoder = TextEncoder(pairs=pairs, words=limit, shared=0)
    expected, known = naive.columns(texts, pairs, limit)
    assert rows(encoder.encode(texts)) == expected
    assert encoder.names() == known


@given(TEXTS, st.booleans(), st.integers(1, 6))
def test_one_by_one_is_the_same_as_all_at_once(texts, pairs, limit):
    together, single = (TextEncoder(pairs=pairs, words=limit, shared=3) for _ in range(2))
    assert [rows(single.encode([text]))[0] for text in texts] == rows(together.encode(texts))
    assert single.names() == together.names()


@given(st.text(max_size=40))
def test_words(text):
    assert words_of(text) == naive.words(text)


def test_more_texts_than_a_block():
    texts = [f"number {i}" for i in range(20_000)]
    encoder = TextEncoder(words=1 << 15)
    starts, columns = encoder.encode(texts)
    assert starts.tolist() == list(range(0, 40_001, 2))
    np.testing.assert_array_equal(columns[0::2], 0)
    np.testing.assert_array_equal(columns[1::2], np.arange(1, 20_001))
    assert encoder.names()[-1] == "19999"


def test_words_without_a_column_share_some():
    encoder = TextEncoder(words=2, shared=4)
    assert rows(encoder.encode(["a b"])) == [[0, 1]]
    (found,) = rows(encoder.encode(["a " + " ".join(f"w{i}" for i in range(100))]))
    assert found == [0, 2, 3, 4, 5]
    assert encoder.names() == ["a", "b", "#0", "#1", "#2", "#3"]
    assert rows(encoder.encode(["w7"])) == rows(encoder.encode(["W7!"], learning=False))


def test_a_prediction_learns_no_word():
    encoder = TextEncoder()
    encoder.encode(["old"])
    assert rows(encoder.encode(["new old"], learning=False)) == [[0]]
    assert encoder.names() == ["old"]


@pytest.mark.parametrize("settings", [{"words": 0}, {"words": 2.5}, {"shared": -1}])
def test_settings(settings):
    with pytest.raises(MarleneError, match="must be a whole number"):
        TextEncoder(**settings)
