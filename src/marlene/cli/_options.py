"""Options that several commands share, and the streams that they describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from marlene._common.checks import one_of
from marlene.cli._progress import bytes_progress
from marlene.streams import load

if TYPE_CHECKING:
    from marlene.streams import Stream


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


def load_stream(source: str, labels: str | None, features: str = "auto", limit: int | None = None) -> Stream:
    """Load a data set or a file, and show a download."""
    with bytes_progress(f"downloading {source}") as progress:
        return load(source, labels=label_choice(labels), features=features, limit=limit, progress=progress)


LabelsOption = Annotated[
    str | None, typer.Option(help="Label columns of a file: patterns like 'is_*,spam', or a number as in MEKA.")
]
FeaturesOption = Annotated[
    str, typer.Option(callback=_known_features, help="auto, numeric, or binary (whether a value is non-zero).")
]
LimitOption = Annotated[int | None, typer.Option(min=1, help="Only the first N examples.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
