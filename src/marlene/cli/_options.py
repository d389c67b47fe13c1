"""Options that several commands share, and the streams that they describe."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marlene._common.checks import one_of
from marlene._common.errors import MarleneError
from marlene.cli._progress import bytes_progress
from marlene.streams import load
from marlene.streams._lines import STANDARD_INPUT

if TYPE_CHECKING:
    from marlene.streams import Stream


MOST_DIGITS = 20


def _known_features(features: str) -> str:
    one_of(features, "--features", ("auto", "numeric", "binary"))
    return features


def is_whole(text: str) -> bool:
    """Tell whether a text is a whole number; one of very many digits is none."""
    return text.removeprefix("-").isdecimal() and len(text) < MOST_DIGITS


def as_number(text: str) -> int | float | str:
    """Return a number if a text is one, else the text.

    Examples
    --------
    >>> as_number("3"), as_number("1e-7"), as_number(".5"), as_number("nan")
    (3, 1e-07, 0.5, 'nan')
    """
    if is_whole(text):
        return int(text)
    return float(text) if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text, re.ASCII) else text


def label_choice(text: str | None) -> str | int | None:
    """Return the value of `--labels` as `load` takes it: a number, or patterns of names.

    Examples
    --------
    >>> label_choice("-2"), label_choice("is_*"), label_choice(None)
    (-2, 'is_*', None)
    """
    return text if text is None or not is_whole(text) else int(text)


def kind_choices(text: str | None) -> dict[str, str]:
    """Return the value of `--kinds` as `load` takes it.

    Examples
    --------
    >>> kind_choices("subject=text:pairs,created=date")
    {'subject': 'text:pairs', 'created': 'date'}
    """
    found: dict[str, str] = {}
    for part in filter(None, (text or "").split(",")):
        name, separator, kind = part.rpartition("=")
        if not name or not separator:
            raise MarleneError(f"--kinds {part!r}: expected COLUMN=KIND")
        found[name.strip()] = kind.strip()
    return found


def column_choices(
    labels: str | None,
    separator: str | None,
    drop: str | None,
    kinds: str | None,
    features: str,
    first_feature: int | None = None,
    absent: str | None = None,
    lazy: bool = False,
) -> dict[str, Any]:
    """Return what the options say about columns, as `load` takes it; what is not said is left out."""
    choices: dict[str, Any] = {"labels": label_choice(labels), "separator": separator, "drop": drop}
    choices |= {"kinds": kind_choices(kinds) or None, "features": features, "first_feature": first_feature}
    choices |= {"absent": absent, "lazy": lazy or None}
    return {name: value for name, value in choices.items() if value is not None}


def load_stream(source: str, choices: dict[str, Any], limit: int | None = None) -> Stream:
    """Load a data set or a file, and show a download."""
    stream: Stream = open_stream(source, choices, limit)
    return stream


def open_stream(source: str, choices: dict[str, Any], limit: int | None = None) -> Any:  # noqa: ANN401
    """Do the same as `load_stream`, but return a `LazyStream` if that is chosen, or for standard input."""
    chosen = choices | {"lazy": True} if source == STANDARD_INPUT else choices
    with bytes_progress(f"downloading {source}") as progress:
        return load(source, **chosen, limit=limit, progress=progress)


LabelsOption = Annotated[
    str | None, typer.Option(help="Label columns of a file: patterns like 'is_*,spam', or a number as in MEKA.")
]
SeparatorOption = Annotated[
    str | None, typer.Option(help="What stands between labels, if one column lists those that are true.")
]
DropOption = Annotated[str | None, typer.Option(help="Columns to leave out: patterns like 'id,note_*'.")]
KindsOption = Annotated[
    str | None,
    typer.Option(help="Kinds of columns, like 'subject=text,created=date'; also numeric, binary, nominal."),
]
FeaturesOption = Annotated[
    str, typer.Option(callback=_known_features, help="auto, numeric, or binary (whether a value is non-zero).")
]
FirstOption = Annotated[
    int | None, typer.Option("--first-feature", min=0, max=1, help="Number of the first feature of an SVMLight file.")
]
AbsentOption = Annotated[
    str | None, typer.Option(help="What a label is where nothing is said of it: unknown (default) or false.")
]
LazyOption = Annotated[
    bool, typer.Option("--lazy", help="Read a file part by part: it need not fit in memory. `-` is standard input.")
]
LimitOption = Annotated[int | None, typer.Option(min=1, help="Only the first N examples.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
