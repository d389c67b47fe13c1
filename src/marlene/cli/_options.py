"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from marlene._common.checks import one_of


def _known_features(features: str) -> str:
    one_of(features, "--features", ("auto", "numeric", "binary"))
    return features


def label_choice(text: str | None) -> str | int | None:
    """Return the value of `--labels` as `load` takes it: a number, or patterns of names.

    Examples
    --------
    >>> label_choice("-2"), label_choice("is_*"), label_choice(None)
    (-2, 'is_*', None)
    """
    return int(text) if text is not None and text.removeprefix("-").isdecimal() else text


LabelsOption = Annotated[
    str | None, typer.Option(help="Label columns of a file: patterns like 'is_*,spam', or a number as in MEKA.")
]
FeaturesOption = Annotated[
    str, typer.Option(callback=_known_features, help="auto, numeric, or binary (whether a value is non-zero).")
]
LimitOption = Annotated[int | None, typer.Option(min=1, help="Only the first N examples.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
