"""Guesses about tables: any table is described, and what is guessed makes a stream or a clear error."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.streams._assemble import Choices
from marlene.streams._inspect import guess_options, quiet_stream, report_column
from marlene.streams.frames import frame_table

CELLS = [
    st.one_of(st.none(), st.booleans()),
    st.one_of(st.none(), st.floats()),
    st.one_of(st.none(), st.dates()),
    st.one_of(st.none(), st.text(max_size=5)),
    st.sampled_from(["a|b", "a", "", "b;c", "2024-01-01", "?", "yes", "0"]),
    st.lists(st.sampled_from("ab"), max_size=2),
]
NAMES = st.sampled_from(["tags", "is_a", "is_b", "id", "x", "Label", "a,b", "*", "y"])


@st.composite
def frames(draw):
    rows = draw(st.integers(1, 6))
    names = draw(st.lists(NAMES, unique=True, min_size=1, max_size=5))
    kinds = [draw(st.sampled_from(CELLS)) for _ in names]
    return {name: draw(st.lists(kind, min_size=rows, max_size=rows)) for name, kind in zip(names, kinds, strict=True)}


@given(frames())
def test_any_table(columns):
    table = frame_table(pl.DataFrame(columns, strict=False), "any")
    reports = [report_column(table, i) for i in range(len(table.names))]
    assert [report.name for report in reports] == list(columns)
    for report, cells in zip(reports, columns.values(), strict=True):
        assert sum(cell is None for cell in cells) <= report.missing <= len(cells)
        assert len(report.first) == min(3, len(cells))
    guess = guess_options(table, reports)
    if guess.labels is None:
        assert guess.separator is None
        return
    choices = Choices(guess.labels, guess.separator, [], dict(guess.kinds))
    try:
        stream = quiet_stream(table, choices, "any")
    except MarleneError as error:
        assert "any" in str(error)  # noqa: PT017 (an error is allowed, not demanded)
    else:
        assert len(stream.labels) > 0


@pytest.mark.parametrize(
    ("columns", "labels", "separator"),
    [
        ({"a": ["x y"] * 4, "Tags": ["p;q", "p", "q", "q;p"]}, "Tags", ";"),
        ({"a": [1, 2], "deep.labels": [["p"], []]}, "deep.labels", None),
        ({"note": ["a/b", "a", "b", "a/b"], "y": [0, 1, 0, 1]}, -1, None),
        ({"category": ["web", "mail", "web"] * 3, "tags": [["p"], [], ["p", "q"]] * 3}, "tags", None),
        ({"category": ["web", "mail", "web"] * 3, "tags": ["p", "p|q", ""] * 3}, "tags", "|"),
        ({"category": ["web", "mail", "web"] * 3, "is_a": [0, 1, 0] * 3, "x": [1, 2, 3] * 3}, "is_*", None),
        ({"category": ["web", "mail", "web"] * 3, "x": [1, 2, 3] * 3, "vip": [0, 1, 1] * 3}, "category", "|"),
    ],
)
def test_labels(columns, labels, separator):
    table = frame_table(pl.DataFrame(columns), "any")
    guess = guess_options(table, [report_column(table, i) for i in range(len(columns))])
    assert (guess.labels, guess.separator) == (labels, separator)
