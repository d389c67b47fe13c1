"""Rows per second of our readers, beside orjson and scikit-learn."""

from __future__ import annotations

import importlib
import importlib.util
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks._measure import Bound, Table, cpu_seconds, progress
from marlene.encoders import TextEncoder
from marlene.streams import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 3
JSON_LINES, SVMLIGHT, TEXTS = "Reading JSON lines", "Reading an SVMLight file", "Words of short texts"
TAGS = ("billing", "bug", "late", "other", "refund")
CHOICES: dict[str, Any] = {"labels": "tags", "drop": "id", "kinds": {"subject": "text", "created": "date"}}
TEXTS_PER_SECOND = 50_000


def texts(rows: int, rng: np.random.Generator) -> list[str]:
    """Return texts of eight words out of 5000."""
    words = np.array([f"word{i}" for i in range(5000)])
    return [" ".join(row).capitalize() + "!" for row in words[rng.integers(5000, size=(rows, 8))].tolist()]


def write_json(path: Path, rows: int) -> None:
    """Write tickets: a text, a date, numbers, a truth value, a nested object and a list of labels."""
    rng = np.random.default_rng(1)
    subjects, numbers, whole = texts(rows, rng), rng.normal(size=rows).tolist(), rng.integers(90, size=rows).tolist()
    with path.open("w", encoding="utf-8") as file:
        for i, subject in enumerate(subjects):
            record = {
                "id": f"t{i}",
                "subject": subject,
                "created": f"2024-{1 + i % 12:02}-{1 + i % 28:02}T{i % 24:02}:30",
            }
            record |= {"size": numbers[i], "count": i % 1000, "vip": i % 3 == 0}
            nested = {
                "who": {"age": whole[i], "team": "abcde"[i % 5]},
                "tags": [tag for j, tag in enumerate(TAGS) if i >> j & 1],
            }
            file.write(json.dumps(record | nested) + "\n")


def write_svmlight(path: Path, rows: int) -> None:
    """Write rows of 40 out of 5000 features, and 3 out of 100 labels."""
    rng = np.random.default_rng(1)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(rows):
            columns = np.sort(rng.choice(5000, 40, replace=False)) + 1
            labels = ",".join(map(str, np.sort(rng.choice(100, 3, replace=False))))
            pairs = zip(columns.tolist(), rng.random(40).tolist(), strict=True)
            file.write(labels + "".join(f" {column}:{value:.6f}" for column, value in pairs) + "\n")


def best(read: Callable[[], object], rounds: int) -> float:
    """Return the least CPU seconds of several calls, after one that loads what is needed."""
    read()
    return min(cpu_seconds(read) for _ in range(rounds))


def json_table(rows: int, rounds: int) -> Table:
    """Compare our reader of JSON lines with orjson and our conversion of dictionaries."""
    if importlib.util.find_spec("orjson") is None:
        return Table(JSON_LINES, "Not measured: the package orjson is not installed.")
    progress(JSON_LINES)
    parse = importlib.import_module("orjson").loads

    def records(path: Path) -> list[Any]:
        with path.open("rb") as file:
            return [parse(line) for line in file]

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tickets.jsonl"
        write_json(path, rows)
        ours = best(lambda: load(path, **CHOICES), rounds)
        alone = best(lambda: records(path), rounds)
        theirs = best(lambda: load(records(path), **CHOICES), rounds)
    named = (("marlene", ours), ("orjson alone", alone), ("orjson, then load", theirs))
    method = (
        f"A file of {rows:,} tickets, each with a text of eight words, a date, numbers, a nested object and a list of "
        f"labels, becomes a stream. Beside it, orjson parses every line, and `load` takes the dictionaries. Least of "
        f"{rounds} calls."
    )
    table = [(name, seconds, rows / seconds) for name, seconds in named]
    bound = Bound("CPU time over that of orjson and conversion", ours / theirs, 1.0, "×")
    return Table(JSON_LINES, method, ("reader", "CPU s", "rows per CPU s"), [*table], [bound])


def svmlight_table(rows: int, rounds: int) -> Table:
    """Compare our reader of SVMLight files with scikit-learn's."""
    progress(SVMLIGHT)
    datasets = importlib.import_module("sklearn.datasets")
    binarizer = importlib.import_module("sklearn.preprocessing").MultiLabelBinarizer

    def converted(path: Path) -> object:
        X, Y = datasets.load_svmlight_file(str(path), multilabel=True)
        return load((X, binarizer().fit_transform(Y)))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.svm"
        write_svmlight(path, rows)
        ours = best(lambda: load(path), rounds)
        theirs = best(lambda: converted(path), rounds)
    method = (
        f"A file of {rows:,} rows with 40 values of 5000 features and 3 of 100 labels becomes a stream. Beside it, "
        "`load_svmlight_file` reads it, `MultiLabelBinarizer` makes a matrix of the labels, and `load` takes both. "
        f"Least of {rounds} calls."
    )
    table = [
        (name, seconds, rows / seconds) for name, seconds in (("marlene", ours), ("scikit-learn, then load", theirs))
    ]
    bound = Bound("CPU time over that of scikit-learn and conversion", ours / theirs, 1.0, "×")
    return Table(SVMLIGHT, method, ("reader", "CPU s", "rows per CPU s"), [*table], [bound])


def text_table(rows: int, rounds: int) -> Table:
    """Measure how fast texts become words."""
    progress(TEXTS)
    given = texts(rows, np.random.default_rng(1))
    table = []
    for name, pairs in (("words", False), ("words and pairs", True)):
        seconds = best(lambda pairs=pairs: TextEncoder(pairs=pairs).encode(given), rounds)  # type: ignore[misc]
        table.append((name, seconds, rows / seconds))
    method = f"{rows:,} texts of eight words become rows of a sparse matrix. Least of {rounds} calls."
    bound = Bound("texts per CPU s", table[0][2], TEXTS_PER_SECOND, "texts", at_least=True)
    return Table(TEXTS, method, ("what", "CPU s", "texts per CPU s"), [*table], [bound])


def tables(*, quick: bool = False) -> Iterator[Table]:
    rounds = 1 if quick else ROUNDS
    yield json_table(5_000 if quick else 100_000, rounds)
    yield svmlight_table(2_000 if quick else 50_000, rounds)
    yield text_table(20_000 if quick else 200_000, rounds)
