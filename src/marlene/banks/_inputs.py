"""What the features and the inputs of a saved bank must be like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import MOST_COUNTED
from marlene.kernels.banks.scales import PRESENCE
from marlene.kernels.rows import LARGEST_NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array

NUMERIC = 0


def _inputs_are_shared_out(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    """Tell whether every input belongs to one feature: features end where the next one begins."""
    kinds, first = arrays["kinds"], arrays["first"]
    order = np.argsort(first)
    first, length = first[order], np.maximum(1, kinds[order] - 1)
    if (length > lengths["inputs"]).any():  # so that the sums below do not overflow
        return False
    return np.array_equal(np.concatenate([[0], np.cumsum(length)]), [*first, lengths["inputs"]])


def _numbers_are_numeric_features(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    is_number = np.zeros(lengths["inputs"], np.bool_)
    is_number[arrays["first"][arrays["kinds"] == NUMERIC]] = True
    return np.array_equal(arrays["scales.numeric"] != PRESENCE, is_number)


def _each_has_one_number(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    numeric = arrays["scales.numeric"]
    return np.array_equal(np.sort(numeric[numeric != PRESENCE]), np.arange(lengths["numbers"]))


def number_field(axes: tuple[str | int, ...], says: str) -> Field:
    """Return a field of numbers of examples, or of means of them, which may be larger by an error of rounding."""
    return Field("float64", axes, says, -2 * LARGEST_NUMBER, 2 * LARGEST_NUMBER)


def _sum(says: str) -> Field:
    return Field("float64", ("numbers",), says, least=0)


INPUTS = Layout(
    "the features of a bank",
    {
        "kinds": Field("int64", ("features",), "0 for a numeric feature, else the number of its values", least=NUMERIC),
        "first": Field("int64", ("features",), "the first input of each feature", least=0, most="inputs"),
        "alive": Field("bool", ("classifiers",), "which classifiers there are"),
        "scales.numeric": Field(
            "int64", ("inputs",), "its number among the numeric inputs, or -1", least=PRESENCE, most="numbers"
        ),
        "scales.met": Field("bool", ("inputs",), "whether an example had an input"),
        "scales.seen": Field(
            "int64", (2,), "how many examples there were, and how many inputs were met", least=0, most=MOST_COUNTED
        ),
        "scales.times": _sum("how often a number was not zero"),
        "scales.mean": number_field(("numbers",), "its mean"),
        "scales.squares": _sum("the sum of squared deviations from it"),
        "scales.origin": number_field(("numbers",), "its first value"),
        "scales.missing": _sum("how often it was missing"),
    },
    (
        Rule("a nominal feature has at least two values", lambda a, _: (a["kinds"] != 1).all()),
        Rule("every input belongs to one feature", _inputs_are_shared_out),
        Rule("the inputs of numeric features are numbers, and no others", _numbers_are_numeric_features),
        Rule("each of these has one number", _each_has_one_number),
        Rule(
            "`scales.seen` counts the inputs that were met", lambda a, _: a["scales.met"].sum() == a["scales.seen"][1]
        ),
        Rule(
            "no number was there more often than examples",
            lambda a, _: (a["scales.times"] + a["scales.missing"] <= a["scales.seen"][0]).all(),
        ),
    ),
)
