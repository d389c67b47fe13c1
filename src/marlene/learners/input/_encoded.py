"""Texts and dates among the features of a learner: words, and the parts of dates, as features of their own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError, quoted
from marlene.encoders import DATE_PARTS, SHARED, WORDS, date_inputs, date_seconds, looks_like_date, word_hash, words_of
from marlene.learners.input._examples import is_missing
from marlene.streams._cells import DATES, MISSING, is_value
from marlene.streams._columns import DATE_FORMS, UNITS, text_options

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from marlene.learners.input._additions import Additions
    from marlene.streams import Feature

TEXT, DATE = "text", "date"
SETS = (set, frozenset)
TEXTLIKE = (int, float, np.number, *DATES)
FEWEST_WORDS = 4
"""A text of so many words is no nominal value."""


class Encoder(Protocol):
    """What makes several features of one."""

    kind: str
    """The kind of its features."""
    always: bool
    """Whether its features are missing, not zero, in an example that does not mention it."""

    def note(self, feature: Hashable) -> None:
        """Take note of a new feature, which may be one of its own."""

    def unnote(self, feature: Hashable) -> None:
        """Take back what was noted of a feature."""

    def features(self, value: Any, additions: Additions) -> Iterator[tuple[Hashable, float]]:  # noqa: ANN401
        """Return features and their values for a value; what is new may be in `additions` only."""


class Words:
    """The words of a text, numbered as `marlene.encoders.TextEncoder` does.

    The first words have features of their own, as many as there is room for; further ones share features.
    """

    kind = "binary"
    always = False

    def __init__(self, name: Hashable, option: str) -> None:
        settings = text_options(option)
        self._name = name
        self._pairs = bool(settings.get("pairs"))
        self._limit = whole_number(settings.get("words", WORDS), "the number of words", 1, 1 << 24)
        self._prefix = f"{name}: "
        self._known: set[str] = set()

    def note(self, feature: Hashable) -> None:
        """Take note of a new feature, which may be a word of this text."""
        if isinstance(feature, str) and feature.startswith(self._prefix):
            word = feature.removeprefix(self._prefix)
            if not word.startswith("#"):
                self._known.add(word)

    def unnote(self, feature: Hashable) -> None:
        """Take back what was noted of a feature."""
        if isinstance(feature, str) and feature.startswith(self._prefix):
            self._known.discard(feature.removeprefix(self._prefix))

    def features(self, value: Any, additions: Additions) -> Iterator[tuple[Hashable, float]]:  # noqa: ANN401
        """Return the words of a text, each with 1."""
        new = additions.words.setdefault(self._name, set())
        for word in self._words(_as_text(self._name, value)):
            if word not in self._known and word not in new:
                if len(self._known) + len(new) >= self._limit:
                    yield f"{self._prefix}#{(word_hash(word) >> 32) % SHARED}", 1.0
                    continue
                if not additions.learning:
                    continue
                new.add(word)
            yield f"{self._prefix}{word}", 1.0

    def _words(self, text: str) -> Iterator[str]:
        last = ""
        for word in words_of(text):
            yield word
            if self._pairs and last:
                yield f"{last} {word}"
            last = word


class Date:
    """A date: its seconds, and hour, weekday and month as points on circles."""

    kind = "numeric"
    always = True

    def __init__(self, name: Hashable, option: str) -> None:
        self._name = name
        self._unit = UNITS.get(option, 1.0)
        self._form = None if option in UNITS else option or None
        self._parts = [name, *(f"{name}{part}" for part in DATE_PARTS[1:])]

    def note(self, feature: Hashable) -> None:
        """Do nothing: a date always has the same features."""

    def unnote(self, feature: Hashable) -> None:
        """Do nothing, too."""

    def features(self, value: Any, additions: Additions) -> Iterator[tuple[Hashable, float]]:  # noqa: ANN401, ARG002
        """Return the parts of a date; all are missing if the date is."""
        inputs = date_inputs(np.array([self._seconds(value)]))[0].tolist()
        return zip(self._parts, inputs, strict=True)

    def _seconds(self, value: Any) -> float:  # noqa: ANN401 (whatever an example holds)
        text = isinstance(value, str)
        if is_missing(value) or (text and value.strip().lower() in MISSING):
            return math.nan
        number = isinstance(value, int | float) or (text and self._form is None and is_value(value))
        try:
            return date_seconds(float(value) / self._unit if number else value, self._form)
        except (ValueError, OverflowError):
            written = f"written as {self._form!r}" if self._form else DATE_FORMS
            said = f"feature {self._name!r} is a date: expected one {written}, found {quoted(value)}"
            raise MarleneError(said) from None


def is_encoded(kind: str) -> bool:
    """Tell whether a kind stands for several features.

    Examples
    --------
    >>> is_encoded("text:pairs"), is_encoded("nominal")
    (True, False)
    """
    return kind.partition(":")[0] in (TEXT, DATE)


def make_encoder(name: Hashable, kind: str) -> Encoder:
    """Return what makes features of a text or date."""
    base, _, option = kind.partition(":")
    return Words(name, option) if base == TEXT else Date(name, option)


def guessed_kind(value: Any) -> str | None:  # noqa: ANN401 (whatever an example holds)
    """Return "text" or "date" if a first value looks like one; else None.

    Examples
    --------
    >>> guessed_kind("the printer is on fire"), guessed_kind("2024-05-01"), guessed_kind("red")
    ('text', 'date', None)
    """
    if isinstance(value, DATES):
        return DATE
    if not isinstance(value, str):
        return None
    return TEXT if has_many_words(value) else DATE if looks_like_date(value) else None


def encoded_in(features: Sequence[Feature]) -> dict[str, str]:
    """Return which texts and dates the features of a stream were made of, and their kinds.

    Examples
    --------
    >>> from marlene.streams import load
    >>> stream = load([{"note": "out of ink", "spam": 0}], labels="spam", kinds={"note": "text:pairs"})
    >>> encoded_in(stream.features)
    {'note': 'text:pairs'}
    """
    names = {feature.name: None for feature in features if isinstance(feature.name, str)}
    found = {name: DATE for name in names if all(f"{name}{part}" in names for part in DATE_PARTS)}
    for feature in features:
        name, between, word = str(feature.name).partition(": ")
        if between and name and word and name not in names and feature.kind == "binary":
            found[name] = f"{TEXT}:pairs" if " " in word else found.get(name, TEXT)
    return found


def has_many_words(value: object) -> bool:
    """Tell whether a value is a text of too many words for a nominal value."""
    return isinstance(value, str) and len(value.split(None, FEWEST_WORDS)) >= FEWEST_WORDS


def _as_text(name: Hashable, value: Any) -> str:  # noqa: ANN401
    if isinstance(value, str):
        return "" if value.strip().lower() in MISSING else value
    if isinstance(value, SETS):
        value = sorted(value, key=str)
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    if isinstance(value, list | tuple):
        return " ".join(_as_text(name, part) for part in value)
    if is_missing(value):
        return ""
    if isinstance(value, TEXTLIKE):
        return str(value)
    raise MarleneError(f"feature {name!r} is text: expected a text, found {quoted(value)}")
