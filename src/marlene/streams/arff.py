"""ARFF files of MEKA, Mulan and WEKA."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from marlene._common.errors import MarleneError, warn_user
from marlene._common.labels import UNKNOWN
from marlene.streams._arff_header import Attribute, Header, read_header
from marlene.streams._arff_rows import ArffRows
from marlene.streams._arff_tokens import Malformed, without_escapes
from marlene.streams._arff_values import Decoder, LabelNumbers, Names, Numbers, Texts, label_values
from marlene.streams._assemble import Choices, with_columns
from marlene.streams._cells import Coded
from marlene.streams._columns import RawTable
from marlene.streams._labels import DROPPED, LabelChoice, label_columns, matching_columns
from marlene.streams._lines import bare_stem, numbered_lines
from marlene.streams._matrix import Matrix, dense, inferred_kinds
from marlene.streams._mulan import label_names
from marlene.streams._stream import Feature, Kind, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from marlene._common.arrays import Bools, Floats, Labels
    from marlene._common.files import AnyPath
    from marlene.streams._stream import FeatureKinds


BITS = {"0", "1"}


def read_arff(
    path: AnyPath,
    *,
    labels: LabelChoice | None = None,
    xml: AnyPath | None = None,
    drop: str | Sequence[str] = (),
    kinds: FeatureKinds = "auto",
    name: str | None = None,
) -> Stream:
    r"""Read an ARFF file, plain or compressed with gzip, bzip2 or xz.

    The first of these that exists gives the label columns: `labels`; `xml`; an XML file of the same name beside the
    file, as in Mulan; the number after `-C` in the relation's name, as in MEKA (negative if the labels are the last
    columns). If the last two do not agree, a warning says so.

    The stream is sparse if any row is. A nominal column with the values 0 and 1 is binary, and so is a numeric column
    of only 0 and 1; every other nominal column holds the indices of its values. A value that a sparse row leaves out is
    0 or the first declared value, as in WEKA; where that is 1 of {1,0}, the column stays nominal. A label is nominal
    with the values 0 and 1, false and true, or no and yes, or numeric with 0 and 1. A question mark is a missing value,
    or a label that is not known.
    A column of type string is text or nominal, and one of type date a date, as in tables; their features come last.
    Relational columns, and weights of instances, are refused.

    Parameters
    ----------
    path
        The file.
    labels
        The label columns: a number n (the first n columns, or the last -n); a pattern of names such as "label*"; or a
        list of names.
    xml
        A Mulan file with the names of the labels.
    drop, kinds
        As in `read_csv`.
    name
        What the stream is called in reports; by default the file's name without its suffixes.

    Raises
    ------
    MarleneError
        If the file cannot be read or is malformed; the message names the file, the line and what was expected.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "mail.arff"
    >>> _ = file.write_text('''@relation 'mail: -C 2'
    ... @attribute urgent {0,1}
    ... @attribute spam {0,1}
    ... @attribute length numeric
    ... @attribute 'has attachment' numeric
    ... @attribute sender {friend,colleague,stranger}
    ... @data
    ... {0 1, 2 40.5}
    ... {1 1, 2 7, 3 1, 4 stranger}  % the only one with an attachment
    ... ''')
    >>> stream = read_arff(file)
    >>> stream
    <Stream mail: 2 examples, 3 features (sparse), 2 labels>
    >>> [feature.kind for feature in stream.features]
    ['numeric', 'binary', 'nominal']
    >>> for x, y in stream:
    ...     print(x, y)
    {'length': 40.5, 'has attachment': False, 'sender': 'friend'} {'urgent': True, 'spam': False}
    {'length': 7.0, 'has attachment': True, 'sender': 'stranger'} {'urgent': False, 'spam': True}
    """
    return arff_stream(Path(path), labels, None if xml is None else Path(xml), drop, kinds, "auto", name)


def arff_stream(
    file: Path,
    labels: LabelChoice | None,
    xml: Path | None,
    drop: str | Sequence[str],
    kinds: FeatureKinds,
    others: str,
    name: str | None,
) -> Stream:
    """Read a file as `read_arff` does; `others` is the kind of the features that `kinds`, a mapping, does not name."""
    try:
        with closing(numbered_lines(file)) as lines:
            header = read_header(lines, str(file))
            chosen = arff_labels(file, header, labels, xml)
            rows = new_rows(str(file), header.attributes, chosen)
            _read_rows(str(file), header.data_line, lines, rows)
        stream = rows_stream(file, header.attributes, chosen, rows, bare_stem(file) if name is None else name)
        return _with_texts(file, header.attributes, rows, stream, Choices(1, None, drop, kinds, others))
    except MemoryError as error:
        raise MarleneError(f"{file}: there is not enough memory for this file") from error


def arff_labels(file: Path, header: Header, labels: LabelChoice | None, xml: Path | None) -> list[int]:
    """Return the label columns."""
    names = header.names()
    if labels is not None:
        return label_columns(names, labels, str(file))
    if xml is not None:
        return _named_columns(file, names, xml)
    beside = file.with_name(f"{bare_stem(file)}.xml")
    counted = header.meka_labels(str(file))
    if not beside.is_file():
        if counted is None:
            raise MarleneError(
                f"{file}: nothing says which columns are labels: expected -C in the relation's name, "
                f"a file {beside.name} beside it, or a choice of labels"
            )
        return counted
    if counted is None:
        return _named_columns(file, names, beside)
    try:
        named = _named_columns(file, names, beside)
    except MarleneError as error:
        warn_user(
            f"{file}: -C in the relation's name says which columns are labels, because of the other file: {error}"
        )
        return counted
    if named != counted:
        warn_user(
            f"{file}: {beside.name} names {len(named)} labels, and they are taken; "
            f"-C in the relation's name says {len(counted)} columns, and not the same ones"
        )
    return named


def _named_columns(file: Path, names: Sequence[str], xml: Path) -> list[int]:
    """Return the columns that a file of Mulan names; there, too, a quote may be written with a backslash."""
    known = set(names)
    chosen = [name if name in known else without_escapes(name) for name in label_names(xml)]
    return label_columns(names, chosen, f"{file} with {xml}")


def new_rows(source: str, attributes: Sequence[Attribute], labels: Sequence[int]) -> ArffRows:
    """Return room for rows."""
    numbers, label_numbers = Numbers(), LabelNumbers()
    is_label = set(labels)
    titles: list[str] = []
    columns: list[Decoder] = []
    absent: list[float] = []
    for position, attribute in enumerate(attributes):
        label = position in is_label
        title = f"{'label' if label else 'attribute'} {attribute.name!r}"
        titles.append(title)
        if attribute.kind:
            if label:
                raise MarleneError(f"{source}, line {attribute.line}: {title}: expected a type with the values 0 and 1")
            columns.append(Texts())
            absent.append(0.0)
            continue
        if attribute.values is None:
            columns.append(label_numbers if label else numbers)
            absent.append(0.0)
            continue
        values = sorted(attribute.values) if set(attribute.values) == BITS else attribute.values
        meaning = {value: float(index) for index, value in enumerate(values)}
        if label:
            try:
                meaning = label_values(attribute.values)
            except Malformed as error:
                raise MarleneError(f"{source}, line {attribute.line}: {title}: {error}") from None
        columns.append(Names(meaning))
        absent.append(meaning[attribute.values[0]])
    return ArffRows(titles, columns, absent)


def _read_rows(source: str, start: int, lines: Iterator[tuple[int, bytes]], rows: ArffRows) -> None:
    number = start
    for number, text in lines:
        line = text.strip()
        if line and not line.startswith(b"%"):
            try:
                rows.add(number, line)
            except Malformed as error:
                raise MarleneError(f"{source}, line {number}: {error}") from None
    if not len(rows):
        raise MarleneError(f"{source}, line {number + 1}: expected a row, found the end of the file")


def rows_stream(
    file: Path, attributes: Sequence[Attribute], labels: Sequence[int], rows: ArffRows, name: str
) -> Stream:
    """Return rows as a stream; a string or date is the number of its text."""
    is_label = np.zeros(len(attributes), dtype=bool)
    is_label[labels] = True
    X, Y = _sparse(rows, is_label, str(file)) if rows.sparse else _dense(rows, is_label)
    inputs = [attribute for position, attribute in enumerate(attributes) if not is_label[position]]
    features = tuple(_feature(*each, rows.sparse) for each in zip(inputs, inferred_kinds(X), strict=True))
    return Stream(X, Y, features, tuple(attributes[position].name for position in labels), name)


def _with_texts(
    file: Path,
    attributes: Sequence[Attribute],
    rows: ArffRows,
    stream: Stream,
    choices: Choices,
) -> Stream:
    """Drop columns, set kinds, and put the features of strings and dates in place of the numbers of their texts."""
    table, drop = texts_table(file, attributes, rows, stream, choices.drop)
    return with_columns(stream, table, drop, choices)


def texts_table(
    file: Path, attributes: Sequence[Attribute], rows: ArffRows, stream: Stream, drop: str | Sequence[str]
) -> tuple[RawTable, list[str]]:
    """Return the strings and dates that are kept, and the names of all columns that are to be dropped from a stream."""
    names = [attribute.name for attribute in attributes]
    dropped = {names[i] for i in matching_columns(names, drop, str(file), DROPPED)} if drop else set()
    texts = [i for i, attribute in enumerate(attributes) if attribute.kind]
    kept = [i for i in texts if names[i] not in dropped]
    place = {feature.name: position for position, feature in enumerate(stream.features)}

    def column(i: int) -> Coded:
        codes = dense(stream.X[:, [place[names[kept[i]]]]])[:, 0]
        words = rows.columns[kept[i]]
        return Coded([None, *(words.texts if isinstance(words, Texts) else ())], codes.astype(np.int64))

    table = RawTable(
        source=str(file),
        names=[names[i] for i in kept],
        rows=len(rows),
        column=column,
        where=lambda row: f"{file}, line {rows.lines[row]}",
        declared={i: attributes[j].kind for i, j in enumerate(kept) if attributes[j].kind != "text"},
    )
    return table, [*dropped.union(names[i] for i in texts)]


def _feature(attribute: Attribute, inferred: Kind, sparse: bool) -> Feature:
    if attribute.values is None:
        return Feature(attribute.name, inferred)
    if set(attribute.values) == BITS and (attribute.values[0] == "0" or not sparse):
        return Feature(attribute.name, "binary")
    return Feature(attribute.name, "nominal", attribute.values)


def _truth(values: Floats) -> Labels:
    return np.nan_to_num(values, nan=UNKNOWN).astype(np.int8)


def _dense(rows: ArffRows, is_label: Bools) -> tuple[Matrix, Labels]:
    table = rows.dense_table()
    X = table.take(np.flatnonzero(~is_label), axis=1)
    return X, _truth(table.take(np.flatnonzero(is_label), axis=1))


def _sparse(rows: ArffRows, is_label: Bools, source: str) -> tuple[Matrix, Labels]:
    row, column, value = rows.sparse_entries(source)
    # The position of a column among the labels, or among the features.
    place = (np.where(is_label, np.cumsum(is_label), np.cumsum(~is_label)) - 1).astype(np.int32)
    of_label = is_label[column]

    Y = np.zeros((len(rows), int(is_label.sum())), dtype=np.int8)
    Y[:, np.asarray(rows.absent)[is_label] == 1] = 1
    Y[row[of_label], place[column[of_label]]] = _truth(value[of_label])

    # What a sparse row leaves out is not stored: where 1 is declared before 0, the two change places.
    absent = np.asarray(rows.absent)[column]
    value = np.where(of_label | (absent == 0), value, absent - value)

    kept = ~of_label & (value != 0)
    values, indices = value[kept], place[column[kept]]
    offsets = np.zeros(len(rows) + 1, dtype=np.int32 if len(values) <= np.iinfo(np.int32).max else np.int64)
    np.cumsum(np.bincount(row[kept], minlength=len(rows)), out=offsets[1:])
    # SciPy keeps the index type, and needs the same one for both arrays.
    shape = (len(rows), int((~is_label).sum()))
    return sp.csr_array((values, indices.astype(offsets.dtype, copy=False), offsets), shape=shape), Y
