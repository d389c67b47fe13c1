"""Files of examples: ARFF, CSV, JSON, SVMLight, Parquet."""

from __future__ import annotations

import contextlib
import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from marlene._common.errors import MarleneError
from marlene.streams import Stream, load
from tests.fuzz._mutations import changed_bytes
from tests.fuzz._run import Target

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator
    from pathlib import Path

ARFF = (
    b"""@relation 'm: -C 2'
@attribute a {0,1}
@attribute b {0,1}
@attribute 'c d' numeric
@attribute e {x,'y z'}
@data
1,0,2.5,x
0,?,?,'y z'
{0 1, 2 3}
% end
""",
    b"""@RELATION 'r: -C -1'
@ATTRIBUTE t string
@ATTRIBUTE w date 'yyyy-MM-dd'
@ATTRIBUTE n real
@ATTRIBUTE y {0,1}
@DATA
'one two three four',2024-05-01,1e3,1
"it\\'s",?,-0.5,0
""",
    b"""@relation s
@attribute x0 numeric
@attribute x1 integer
@attribute TAG_m\\'u {0,1}
@data
{}
{1 7,2 1}
{0 2}
""",
)
XML = b'<labels xmlns="http://mulan.sourceforge.net/labels"><label name="TAG_m\\\'u"></label></labels>'
CSV = (
    b"""id,subject,created,size,vip,tags,is_a
t1,refund my order,2024-05-01,1.5,true,a|b,1
t2,"late, again",2024-05-02T10:00,,false,,0
t3,,,-3e2,?,b,
""",
    b"is_a;x;y\n1;0.5;red\n0;1.5;blue\n",
    b"0,1,0.5,1\n1,0,2,0\n",
)
JSON = (
    b"""{"id": "t1", "n": 1.5, "who": {"age": 7, "team": "x"}, "tags": ["a", "b"], "is_a": true}
{"id": "t2", "n": null, "who": {"age": 1e3}, "tags": [], "is_a": 0}
""",
    b"""[{"n": 1, "text": "\\u00e9 two three", "tags": ["a"], "is_a": 1},
 {"n": -2.5e-3, "tags": null, "is_a": false}]
""",
)
SVM = (
    b"2,5 1:0.5 7:1\n5 3:1 # comment\n 2:7\n",
    b"-1 qid:3 1:1\n1 2:2.5\n",
    b"3 10 4\n0,2 1:0.5 9:1\n 3:1\n1 0:2\n",
)
OPTIONS: tuple[dict[str, Any], ...] = (
    {"labels": "is_*"},
    {"labels": "tags", "drop": "is_a"},
    {"labels": "tags", "separator": "|", "drop": "id"},
    {"labels": -1},
    {"labels": 1, "kinds": {"*": "text:pairs:3"}},
    {"labels": "is_a", "kinds": {"created": "date", "size": "numeric", "subject": "nominal"}},
    {"labels": ["is_a"], "features": "binary", "absent": "false"},
    {"labels": "tags,is_a", "drop": "id"},
    {"labels": "is_a", "drop": "tags"},
)
STRICTER = ("cannot be read lazily", "two columns are named", "expected a Parquet file")
"""What is said of files that cannot be read part by part, but as a whole; polars scans damaged files otherwise."""


def _right(stream: Stream) -> None:
    """Check what learners and kernels rely on."""
    X, Y = stream.X, stream.Y
    assert X.shape == (len(stream), len(stream.features))
    assert Y.shape == (len(stream), len(stream.labels))
    assert len(stream) > 0
    assert len(set(stream.labels)) == len(stream.labels) > 0
    assert Y.dtype == np.int8
    assert np.isin(Y, (-1, 0, 1)).all()
    dense = X if isinstance(X, np.ndarray) else X.toarray() if X.shape[1] < 10_000 else np.zeros((len(stream), 0))
    assert dense.dtype == np.float64
    assert not np.isinf(dense).any()
    for feature, values in zip(stream.features, dense.T, strict=False):
        known = values[~np.isnan(values)]
        most = {"numeric": np.inf, "binary": 1, "nominal": max(1, len(feature.values)) - 1}[feature.kind]
        assert feature.kind == "numeric" or ((known >= 0) & (known <= most) & (known % 1 == 0)).all(), feature
    if not isinstance(X, np.ndarray):
        assert ((X.indices >= 0) & (X.indices < max(1, X.shape[1]))).all()
        assert X.has_sorted_indices or not X.nnz
    next(iter(stream))


def _same(one: Stream, other: Stream) -> None:
    assert one.labels == other.labels
    np.testing.assert_array_equal(one.Y, other.Y)
    assert len(one.features) == len(other.features)
    assert {f.name for f in one.features} == {f.name for f in other.features}


def _read(path: Path, options: dict[str, Any]) -> None:
    """Read a file whole and part by part: both are refused, or both are right and the same."""
    try:
        whole = load(path, **options)
    except MarleneError as error:
        refused: MarleneError | None = error
    else:
        refused = None
        _right(whole)
    try:
        parts = list(load(path, **options, lazy=True).parts())
    except MarleneError as error:
        if refused is None and not any(words in str(error) for words in STRICTER):
            raise AssertionError(f"refused only part by part: {error}") from error
    else:
        for part in parts:
            _right(part)
        if refused is None and len(parts) == 1:
            _same(whole, parts[0])
    if refused is not None:
        raise refused


def _checking(suffixes: tuple[str, ...], options: tuple[dict[str, Any], ...]) -> Callable[[bytes, Path], None]:
    """Return a check; the first two bytes of a case choose the suffix of the file and the options."""

    def check(case: bytes, folder: Path) -> None:
        first, second = (*case[:2], 0, 0)[:2]
        path = folder / f"case.{suffixes[first % len(suffixes)]}"
        path.write_bytes(case[2:])
        if suffixes[0] == "arff" and second % 4 == 3:
            (folder / "case.xml").write_bytes(XML)
        else:
            (folder / "case.xml").unlink(missing_ok=True)
        _read(path, options[second % len(options)])

    return check


def _seeds(*texts: tuple[int, int, bytes]) -> Callable[[], list[bytes]]:
    return lambda: [bytes((first, second)) + text for first, second, text in texts]


def _made(rng: random.Random, seeds: list[bytes], tokens: tuple[bytes, ...]) -> bytes:
    options = rng.randrange(256) if rng.random() < 0.2 else seeds[0][1]
    return bytes((seeds[0][0], options)) + changed_bytes(rng, [seed[2:] for seed in seeds], tokens)


def _parquet_seeds() -> list[bytes]:
    frames = (
        pl.DataFrame({"x": [1.5, None], "c": ["a", "b"], "tags": [["p"], []], "is_a": [True, False]}),
        pl.DataFrame({"s": [{"a": 1, "b": "x"}, None], "d": [1, 2], "is_a": [1, 0]}).with_columns(
            pl.col("d").cast(pl.Datetime("ms"))
        ),
    )
    found = []
    for frame in frames:
        for compression in ("uncompressed", "zstd"):
            buffer = io.BytesIO()
            frame.write_parquet(buffer, compression=compression)  # type: ignore[arg-type]
            found.append(bytes((0, 1 if "tags" in frame.columns else 0)) + buffer.getvalue())
    return found


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keep polars from writing about its panics."""
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


def _check_parquet(case: bytes, folder: Path) -> None:
    with _silent():
        _checking(("parquet",), OPTIONS)(case, folder)


ARFF_TARGET = Target(
    "arff",
    _seeds((0, 0, ARFF[0]), (0, 0, ARFF[1]), (0, 3, ARFF[2])),
    _checking(("arff",), ({}, {"labels": 1}, {"features": "numeric"}, {})),
    (b"@data", b"@attribute z ", b"@relation", b"numeric", b"{0,1}", b"date", b"string", b"-C 3", b"\\'", b"@end"),
    _made,
)
CSV_TARGET = Target(
    "csv", _seeds((0, 2, CSV[0]), (0, 0, CSV[1]), (0, 3, CSV[2])), _checking(("csv", "tsv"), OPTIONS), make=_made
)
JSON_TARGET = Target(
    "json",
    _seeds((0, 1, JSON[0]), (0, 8, JSON[0]), (1, 1, JSON[1])),
    _checking(("jsonl", "json"), OPTIONS),
    (
        b'"a.b"',
        b'"n"',
        b'"\\ud800"',
        b'"\\n"',
        b"{}",
        b"[]",
        b"[[]]",
        b'"tags": ["x"]',
        b"NaN",
        b"Infinity",
        b"\\u0000",
    ),
    _made,
)
SVM_TARGET = Target(
    "svmlight",
    _seeds((0, 0, SVM[0]), (0, 0, SVM[1]), (1, 0, SVM[2])),
    _checking(("svm", "txt"), ({}, {"first_feature": 0}, {"first_feature": 1}, {"features": "binary"})),
    (b"7:1", b"0:1", b"1,2", b"4194304:1", b"qid:", b"99999999999:1", b"10 20 30\n"),
    _made,
)
PARQUET_TARGET = Target("parquet", _parquet_seeds, _check_parquet, make=_made)
