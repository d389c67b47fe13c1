"""Messages of errors: one line that can be printed, of bounded length."""

from __future__ import annotations

import pickle

import pytest

from marlene import Marlene
from marlene._common.checks import whole_number
from marlene._common.errors import LONGEST, MarleneError, MissingExtraError, one_line, quoted


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\u2028b", "\x1b[31mred", "half \udc80", "a\vb\fc\x85d"])
def test_a_message_is_one_line_that_can_be_printed(text: str) -> None:
    said = str(MarleneError(f"column {text}"))
    assert said.isprintable()
    assert len(said.splitlines()) == 1
    assert said.encode().decode() == said


def test_plain_messages_stay_as_they_are() -> None:
    said = "tickets.csv, line 3: expected ‘naïve’ 😀, found 'x'" + " and so on" * 100
    assert str(MarleneError(said)) == said


def test_what_is_too_long_is_cut_in_the_middle() -> None:
    said = str(MarleneError("file.csv: " + "x" * 100_000 + " is not a number"))
    assert said.startswith("file.csv: xxx")
    assert "…" in said
    assert said.endswith("xxx is not a number")
    assert len(said) < 400
    assert len(one_line("word " * 100_000)) == LONGEST


def test_errors_survive_a_pickle() -> None:
    for error in (MarleneError("a\nb"), MissingExtraError("c" * 1000)):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert str(copy) == str(error)


def test_values_that_python_does_not_write_out() -> None:
    assert quoted("x" * 1000).endswith("xxx'")
    with pytest.raises(MarleneError, match=r"^n must be a whole number from 1 to 5, not a value of type int$"):
        whole_number(10**5000, "n", 1, 5)
    with pytest.raises(MarleneError, match=r"^feature 'a' is numeric: expected a number, found a value of type int$"):
        Marlene().learn_one({"a": 10**5000}, {"b"})
