"""Messages: JSON objects that ask for a prediction, bring labels, or both."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from marlene._common.errors import MarleneError
from marlene.learners._block_learner import LARGEST_WEIGHT
from marlene.learners.input._examples import flat

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 1 << 20
"""The longest message in bytes."""
PLAIN = {bool, int, float, str, type(None)}
TRUTH = {True, False, None}
ENCODE = json.JSONEncoder(separators=(",", ":")).encode
Id = str | int


class Record(NamedTuple):
    """A message as a transport delivers it.

    Parameters
    ----------
    source
        The name of the input.
    position
        Where the input goes on after this message, as JSON can hold it.
    body
        The message.
    time
        When the input received it, in seconds; None if the input does not say.
    """

    source: str
    position: Any
    body: bytes
    time: float | None = None


class Output(NamedTuple):
    """What a worker says of a message.

    Parameters
    ----------
    channel
        "answer", "event", "dead" (the message cannot be used), or "told" (what became of labels; only for those who
        wait for a reply).
    body
        A JSON object.
    record
        The index of the message among those the worker took together.
    """

    channel: str
    body: bytes
    record: int


class Message(NamedTuple):
    """A message that was read.

    Parameters
    ----------
    id
        What joins an example and its labels.
    x
        The values of the example by feature.
    y
        Its labels: truth values by label, or a list of those that are true.
    stream
        The name of the source it belongs to; None: the target.
    w
        Its weight; None: 1, or that of the example.
    key
        Which model it is for.
    time
        When it was made, in seconds.
    """

    id: Id
    x: dict[str, Any] | None
    y: dict[str, Any] | list[Any] | None
    stream: str | None
    w: float | None
    key: str | None
    time: float | None


def read(body: bytes, key: str | None = None, longest: int = LONGEST) -> Message:
    """Read a message; an error says in one line what is wrong with it.

    Parameters
    ----------
    body
        A JSON object.
    key
        The name of the field that says which model the message is for; None: there is one model.
    longest
        The longest message that is read, in bytes.

    Examples
    --------
    >>> read(b'{"id": 7, "x": {"word": 1}}').x
    {'word': 1}
    >>> read(b'{"id": 7}')
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: neither "x" nor "y": nothing to predict and nothing to learn
    """
    if len(body) > longest:
        raise MarleneError(f"longer than {longest} bytes")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MarleneError(f"not JSON ({str(error) or 'nested too deep'})") from None
    if not isinstance(found, dict):
        raise MarleneError("not a JSON object")
    x, y = found.get("x"), found.get("y")
    if x is None and y is None:
        raise MarleneError('neither "x" nor "y": nothing to predict and nothing to learn')
    x = _example(x)
    _check_labels(y)
    return Message(
        _id(found),
        x,
        y,
        _text(found, "stream"),
        _number(found, "w", 0.0, LARGEST_WEIGHT),
        _key(found, key),
        _number(found, "time", -math.inf, math.inf),
    )


def check_kept(body: bytes) -> None:
    """Refuse what cannot be an example that was kept: a message, or the part of it that is needed."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or _example(found.get("x")) is None:
        raise MarleneError("an example that was kept is damaged")
    _check_labels(found.get("y"))
    _text(found, "stream")
    _number(found, "w", 0.0, LARGEST_WEIGHT)


def _id(found: Mapping[str, Any]) -> Id:
    given = found.get("id")
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise MarleneError('"id" must be a text or a whole number')
    return given


def _example(x: Any) -> dict[str, Any] | None:  # noqa: ANN401 (what JSON gives)
    """Return the values of an example; those of objects in it are named `a.b`."""
    if x is None:
        return None
    if not isinstance(x, dict):
        raise MarleneError('"x" must be an object of values by feature')
    values: dict[str, Any] = dict(flat(x)) if dict in map(type, x.values()) else x  # type: ignore[arg-type]
    if not PLAIN.issuperset(map(type, values.values())):
        name = next(name for name, value in values.items() if type(value) not in PLAIN)
        raise MarleneError(f'"x": feature {name!r} is neither a number, a text, a truth value nor null')
    return values


def _check_labels(y: Any) -> None:  # noqa: ANN401 (what JSON gives)
    if y is None:
        return
    if isinstance(y, list):
        if not all(type(label) in {str, int, float} and label == label for label in y):  # noqa: PLR0124 (not NaN)
            raise MarleneError('"y" must list labels by name')
    elif not isinstance(y, dict):
        raise MarleneError('"y" must be an object of truth values by label, or a list of labels')
    else:
        for label, value in y.items():
            if isinstance(value, list | dict | str) or value not in TRUTH:
                raise MarleneError(f'"y": label {label!r} must be true, false or null')


def _text(found: Mapping[str, Any], name: str) -> str | None:
    given = found.get(name)
    if given is not None and not isinstance(given, str):
        raise MarleneError(f'"{name}" must be a text')
    return given


def _number(found: Mapping[str, Any], name: str, low: float, high: float) -> float | None:
    given = found.get(name)
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise MarleneError(f'"{name}" must be a number')
    try:
        number = float(given)
    except OverflowError:
        number = math.inf
    if not (low <= number <= high and math.isfinite(number)):
        limits = f" from {low:g} to {high:g}" if math.isfinite(high) else ""
        raise MarleneError(f'"{name}" must be a finite number{limits}')
    return number


def _key(found: Mapping[str, Any], field: str | None) -> str | None:
    if field is None:
        return None
    given = found.get(field)
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise MarleneError(f'"{field}" must be a text or a whole number: it says which model is meant')
    return str(given)


def dumped(content: Mapping[str, Any]) -> bytes:
    """Return an object as JSON."""
    return ENCODE(content).encode()
