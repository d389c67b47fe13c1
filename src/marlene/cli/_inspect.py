"""`marlene inspect`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from marlene._common.errors import MarleneError
from marlene.cli._inspect_checkpoint import inspect_checkpoint
from marlene.cli._options import (
    DropOption,
    FirstOption,
    JsonOption,
    KindsOption,
    LabelsOption,
    SeparatorOption,
    column_choices,
    kind_choices,
    label_choice,
    load_stream,
)
from marlene.cli._summary import print_plainly
from marlene.evaluation._result import dump_json
from marlene.metrics import (
    co_occurrence,
    label_cardinality,
    label_density,
    label_imbalance_rate,
    label_set_imbalance_rate,
    positive_shares,
)
from marlene.streams._assemble import Choices
from marlene.streams._inspect import LoadOptions, as_pattern, guess_options, quiet_stream, report_column
from marlene.streams._labels import DROPPED, matching_columns
from marlene.streams._lines import bare_stem
from marlene.streams._load import open_table
from marlene.streams._matrix import dense

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marlene.streams import Stream
    from marlene.streams._columns import RawTable
    from marlene.streams._inspect import ColumnReport

MOST = 25
WITH = 3
WIDEST = 24
LEFT_OUT = "-"


def inspect(
    stream: Annotated[str, typer.Argument(help="A file, a data set's name, or a checkpoint of `marlene serve`.")],
    labels: LabelsOption = None,
    separator: SeparatorOption = None,
    drop: DropOption = None,
    kinds: KindsOption = None,
    first_feature: FirstOption = None,
    json: JsonOption = False,
) -> None:
    """Print what a file holds: columns, kinds, labels, gaps; and the command that would use it."""
    if inspect_checkpoint(stream, json):
        return
    table = open_table(stream)
    columns: list[ColumnReport] = []
    guess = LoadOptions(label_choice(labels), separator, [drop] if drop else [], kind_choices(kinds))
    loaded, error = None, None
    if table is None:
        loaded = load_stream(stream, column_choices(labels, separator, drop, kinds, "auto", first_feature))
    else:
        columns, guess = _understood(table, guess)
        try:
            loaded = _loaded(table, guess, stream)
        except MarleneError as caught:
            error = caught
    report = _report(table, columns, loaded, command_of(stream, guess, first_feature))
    if json and error is None:
        print(dump_json(report))
        return
    console = Console()
    if not json:
        print_plainly(console, f"{stream}: {report['rows']} rows" + (f", {len(columns)} columns" if columns else ""))
        _print_columns(console, columns)
    if error is not None:
        raise error
    if loaded is not None:
        _print_stream(console, report, loaded, with_features=not columns)
        dropped = [column for column in columns if column.kind == LEFT_OUT and column.problem]
        for column in dropped:
            print_plainly(console, f"left out: {column.name}, because {column.problem}")
        print_plainly(console, f"\n  {report['command']}")


def _loaded(table: RawTable, guess: LoadOptions, source: str) -> Stream:
    if guess.labels is None:
        how = "--labels PATTERN, or --labels COLUMN --separator '|' if one column lists labels"
        raise MarleneError(f"{source}: no column looks like a label; say which are labels: {how}")
    choices = Choices(guess.labels, guess.separator, ",".join(guess.drop), guess.kinds)
    return quiet_stream(table, choices, bare_stem(Path(source)))


def _understood(table: RawTable, given: LoadOptions) -> tuple[list[ColumnReport], LoadOptions]:
    """Return what is known of all columns, and the options: those given, and guesses for the rest."""
    columns = [report_column(table, i, given.kinds.get(name)) for i, name in enumerate(table.names)]
    found = guess_options(table, columns)
    if given.labels is not None or given.separator is not None:
        found.labels = given.labels if given.labels is not None else found.labels
        found.separator = given.separator
    if given.labels is not None:
        found = _with_labels(table, columns, found)
    dropped = ",".join(given.drop)
    gone = {table.names[i] for i in matching_columns(table.names, dropped, table.source, DROPPED)} if dropped else set()
    found.drop = [
        *given.drop,
        *(as_pattern(name) for name in found.drop if name not in gone and name not in given.kinds),
    ]
    guessed = {name: kind for name, kind in found.kinds.items() if name not in gone}
    found.kinds = {as_pattern(name): kind for name, kind in guessed.items() if name not in given.kinds} | given.kinds
    return _with_roles(table, columns, found), found


def _with_roles(table: RawTable, columns: Sequence[ColumnReport], guess: LoadOptions) -> list[ColumnReport]:
    """Return the columns with "label" or "-" in place of the kind of those that become no features."""
    drop = ",".join(guess.drop)
    gone = set(matching_columns(table.names, drop, table.source, DROPPED)) if drop else set()
    of_labels = set() if guess.labels is None else set(Choices(guess.labels).label_positions(table))
    roles = {**dict.fromkeys(of_labels, "label"), **dict.fromkeys(gone, LEFT_OUT)}
    return [replace(column, kind=roles.get(i, column.kind)) for i, column in enumerate(columns)]


def _with_labels(table: RawTable, columns: Sequence[ColumnReport], guess: LoadOptions) -> LoadOptions:
    """Return a guess that treats the columns that are said to be labels as such, and all others as features."""
    chosen = Choices(guess.labels or 1)
    is_label = {table.names[i] for i in chosen.label_positions(table)}
    others = [column for column in columns if column.name not in is_label]
    drop = [column.name for column in others if column.problem]
    kinds = {column.name: column.kind for column in others if not column.problem and column.kind in {"text", "date"}}
    return LoadOptions(guess.labels, guess.separator, drop, kinds)


def command_of(stream: str, guess: LoadOptions, first_feature: int | None) -> list[str]:
    """Return the command that runs a stream with these options.

    Examples
    --------
    >>> shlex.join(command_of("my mail.csv", LoadOptions("tags", "|", ["id"], {"subject": "text"}), None))
    "marlene run 'my mail.csv' --labels tags --separator '|' --drop id --kinds subject=text"
    """
    kinds = ",".join(f"{name}={kind}" for name, kind in guess.kinds.items())
    options = {"--labels": guess.labels, "--separator": guess.separator, "--drop": ",".join(guess.drop)}
    options |= {"--kinds": kinds, "--first-feature": first_feature}
    given = [word for name, value in options.items() if value not in {None, ""} for word in (name, str(value))]
    return ["marlene", "run", stream, *given]


def _report(
    table: RawTable | None, columns: Sequence[ColumnReport], stream: Stream | None, words: Sequence[str]
) -> dict[str, Any]:
    rows = table.rows if table is not None else len(stream) if stream is not None else 0
    report: dict[str, Any] = {"rows": rows, "columns": [_column(column) for column in columns]}
    if stream is not None:
        report |= {"features": len(stream.features), "labels": _labels(stream), "measures": _measures(stream)}
        report["clock"] = stream.clock is not None
    return report | {"command": shlex.join(words) if stream is not None else ""}


def _column(column: ColumnReport) -> dict[str, Any]:
    names = ("name", "kind", "missing", "different", "first", "problem")
    return {name: getattr(column, name) for name in names}


def _labels(stream: Stream) -> list[dict[str, Any]]:
    together = co_occurrence(stream.Y)
    unknown = (stream.Y < 0).sum(axis=0)
    found = []
    for i, (name, share) in enumerate(zip(stream.labels, positive_shares(stream.Y), strict=True)):
        others = together[i].copy()
        others[i] = 0
        most = [int(j) for j in np.argsort(-others, kind="stable")[:WITH] if others[j]]
        found.append(
            {
                "name": name,
                "positive": int(together[i, i]),
                "share": None if np.isnan(share) else float(share),
                "unknown": int(unknown[i]),
                "with": {stream.labels[j]: int(others[j]) for j in most},
            }
        )
    return found


def _measures(stream: Stream) -> dict[str, float]:
    return {
        "cardinality": label_cardinality(stream.Y),
        "density": label_density(stream.Y),
        "label_imbalance_rate": label_imbalance_rate(stream.Y),
        "label_set_imbalance_rate": label_set_imbalance_rate(stream.Y),
        "different_label_sets": len(np.unique(stream.Y, axis=0)),
        "without_labels": int((stream.Y <= 0).all(axis=1).sum()),
        "missing_values": int(np.isnan(stream.X if isinstance(stream.X, np.ndarray) else stream.X.data).sum()),
    }


def _print_stream(console: Console, report: dict[str, Any], stream: Stream, with_features: bool) -> None:
    if with_features:
        _print_features(console, stream)
    _print_labels(console, report["labels"])
    measures = report["measures"]
    print_plainly(
        console,
        f"{len(stream)} examples, {len(stream.features)} features, {len(stream.labels)} labels; "
        f"{measures['missing_values']} missing values{', with a clock' if report['clock'] else ''}\n"
        f"labels per example {measures['cardinality']:.3f}, label density {measures['density']:.3f}\n"
        f"label imbalance rate {measures['label_imbalance_rate']:.3f}, "
        f"label-set imbalance rate {measures['label_set_imbalance_rate']:.3f}\n"
        f"{measures['different_label_sets']} different label sets, "
        f"{measures['without_labels']} examples without a label",
    )


def _print_columns(console: Console, columns: Sequence[ColumnReport]) -> None:
    if not columns:
        return
    table = _table("column", "kind", "missing", "different", "first rows")
    for column in columns[:MOST]:
        first = " · ".join(_short(cell) for cell in column.first)
        table.add_row(Text(_short(column.name)), column.kind, str(column.missing), str(column.different), Text(first))
    console.print(table)
    if len(columns) > MOST:
        print_plainly(console, f"{len(columns) - MOST} more columns")


def _print_features(console: Console, stream: Stream) -> None:
    table = _table("feature", "kind", "missing", "zero", "first rows")
    for i, feature in enumerate(stream.features[:MOST]):
        values = dense(stream.X[:, [i]])[:, 0]
        first = " · ".join(
            _short(str(stream.example(row).get(feature.name, "?"))) for row in range(min(3, len(stream)))
        )
        counts = int(np.isnan(values).sum()), int((values == 0).sum())
        table.add_row(Text(_short(feature.name)), feature.kind, *map(str, counts), Text(first))
    console.print(table)
    if len(stream.features) > MOST:
        print_plainly(console, f"{len(stream.features) - MOST} more features")


def _print_labels(console: Console, labels: Sequence[dict[str, Any]]) -> None:
    table = _table("label", "positive", "share", "unknown", "most often with")
    ordered = sorted(labels, key=lambda label: -label["positive"])
    for label in ordered[:MOST]:
        share = "-" if label["share"] is None else f"{label['share']:.1%}"
        others = ", ".join(f"{_short(name)} {count}" for name, count in label["with"].items())
        table.add_row(Text(_short(label["name"])), str(label["positive"]), share, str(label["unknown"]), Text(others))
    console.print(table)
    if len(labels) > MOST:
        print_plainly(console, f"{len(labels) - MOST} rarer labels")


def _table(first: str, *headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, overflow="fold")
    for heading in headings:
        number = heading in {"missing", "different", "zero", "positive", "share", "unknown"}
        table.add_column(heading, justify="right" if number else "left", overflow="fold", no_wrap=number)
    return table


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDEST else text[: WIDEST - 2] + ".."
