"""What an input would add to the features of a learner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from marlene.learners.input._encoded import has_many_words

if TYPE_CHECKING:
    from collections.abc import Hashable

    from marlene.learners.input._encoded import Encoder

MANY_VALUES = 1000
"""A nominal feature of so many values looks like an identifier."""


@dataclass
class Additions:
    """New features and nominal values of an input. They are added after all of the input is checked.

    Attributes
    ----------
    learning
        Whether anything may be added; a prediction leaves unknown features and values out.
    room
        How many features and values may be added; further ones are left out. None: any number.
    column, kinds
        The column and the kind of every new feature.
    values
        The codes of new nominal values, by column.
    encoded, encoders
        New texts and dates: what kind each is, and what makes features of it.
    words
        The new words of texts.
    doubts
        What looks strange about features, by name.
    """

    learning: bool
    room: int | None = None
    column: dict[Hashable, int] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    values: dict[int, dict[str, int]] = field(default_factory=dict)
    encoded: dict[Hashable, str] = field(default_factory=dict)
    encoders: dict[Hashable, Encoder] = field(default_factory=dict)
    words: dict[Hashable, set[str]] = field(default_factory=dict)
    doubts: dict[Hashable, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.column or self.values or self.encoded)

    def __len__(self) -> int:
        """Return how many features and values are new."""
        return len(self.column) + sum(map(len, self.values.values()))

    @property
    def is_full(self) -> bool:
        """Whether no further feature or value may be added."""
        return self.room is not None and len(self) >= self.room

    def doubt(self, name: Hashable, text: str, count: int) -> None:
        """Have a warning ready of a nominal feature, if its latest value looks like text, or if it has too many."""
        if has_many_words(text):
            found, advice = f"has the value {text[:40]!r}", f"features={{{name!r}: 'text'}} makes features of its words"
        elif count == MANY_VALUES:
            found, advice = f"has {count} different values", "leave it out if it is an identifier"
        else:
            return
        self.doubts.setdefault(name, f"feature {name!r} is nominal and {found}: {advice}")
