"""Checks of settings."""

from __future__ import annotations

import numpy as np
import pytest

from marlene._common.checks import checked, one_of, whole_number
from marlene._common.errors import MarleneError


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_become_ints(value: object) -> None:
    number = whole_number(value, "n", 3, 3)
    assert number == 3
    assert type(number) is int


@pytest.mark.parametrize("value", [True, np.bool_(True), 3.0, "3", None, float("nan")])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(MarleneError, match=r"^n must be a whole number, not "):
        whole_number(value, "n")


@pytest.mark.parametrize(
    ("value", "limits", "words"),
    [
        (0, {"low": 1}, "of at least 1"),
        (0, {"low": 1, "high": 5}, "from 1 to 5"),
        (6, {"low": 1, "high": 5}, "from 1 to 5"),
    ],
)
def test_limits_are_named(value: int, limits: dict[str, int], words: str) -> None:
    with pytest.raises(MarleneError) as caught:
        whole_number(value, "n", **limits)
    assert str(caught.value) == f"n must be a whole number {words}, not {value}"


def test_one_of() -> None:
    one_of("a", "letter", iter("ab"))
    with pytest.raises(MarleneError, match="letter must be one of a, b, not 'c'"):
        one_of("c", "letter", iter("ab"))
    with pytest.raises(MarleneError, match="letter must be one of a, b, not 3"):
        one_of(3, "letter", iter("ab"))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [True, 1.5, "0.5", None, float("nan")])
def test_a_rule_is_a_type_and_a_test(value: object) -> None:
    share = (float, lambda x: 0 <= x <= 1, "a number from 0 to 1")
    assert type(checked(np.float32(0.5), "share", share)) is float
    with pytest.raises(MarleneError, match=f"^share must be a number from 0 to 1, not {value!r}$"):
        checked(value, "share", share)
