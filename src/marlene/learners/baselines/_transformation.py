"""How a multi-label task becomes simpler tasks."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

from marlene._common.states import plain
from marlene.learners.classifiers._bases import base_of, make_base, saved_bank
from marlene.learners.classifiers._models import make_models

if TYPE_CHECKING:
    from collections.abc import Mapping

    from river.base import Classifier as RiverClassifier

    from marlene.learners.baselines._committee import Committee
    from marlene.learners.classifiers._models import Models
    from marlene.learners.classifiers._protocol import ClassifierBank


@dataclass(eq=False, repr=False)
class Transformation(ABC):
    """What the members of an ensemble are: an untrained prototype, whose fields are the parameters."""

    name: ClassVar[str]
    """Its name in files."""

    @abstractmethod
    def committee(self, size: int) -> Committee:
        """Return untrained members."""

    def settings(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Return the transformation whose `settings` these are."""
        return cls(**settings)

    def clone(self) -> Self:
        """Return a transformation with the same parameters."""
        return copy.deepcopy(self)

    def __eq__(self, other: object) -> bool:
        """Tell whether two transformations have the same type and the same parameters."""
        if not isinstance(other, Transformation):
            return NotImplemented
        return type(self) is type(other) and self.settings() == other.settings()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        shown = [f"{field.name}={given[field.name]!r}" for field in fields(self) if given[field.name] != field.default]
        return f"{type(self).__name__}({', '.join(shown)})"


class BasedTransformation(Transformation):
    """A transformation into tasks for base classifiers; `base` is one of its parameters."""

    base: str | ClassifierBank | RiverClassifier

    def __post_init__(self) -> None:
        make_base(self.base)

    def models(self, n_classes: int = 2) -> Models:
        """Return an empty collection of base classifiers."""
        return make_models(make_base(self.base), n_classes)

    def settings(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them; a River object as `base` is refused."""
        base, bank = saved_bank(make_base(self.base))
        others = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "base"}
        return {name: plain(value) for name, value in others.items()} | {"base": [base, bank.settings()]}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Return the transformation whose `settings` these are."""
        return cls(**dict(settings) | {"base": base_of(*settings["base"])})
