"""Transformations over base classifiers of the user's choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from river.base import Classifier as RiverClassifier

from marlene.learners.baselines._committee import Transformation
from marlene.learners.classifiers._bases import FOREST, base_of, make_base, saved_bank
from marlene.learners.classifiers._models import make_models

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene.learners.classifiers._models import Models
    from marlene.learners.classifiers._protocol import ClassifierBank


class BasedTransformation(Transformation):
    """A transformation with the parameter `base`, and perhaps others."""

    def __init__(self, base: str | ClassifierBank | RiverClassifier = FOREST) -> None:
        self.base = base
        make_base(base)

    def __repr__(self) -> str:
        shown = [f"{name}={value!r}" for name, value in self._parameters().items()]
        return f"{type(self).__name__}({', '.join(shown + ([] if self.base == FOREST else [f'base={self.base!r}']))})"

    def _parameters(self) -> dict[str, Any]:
        """Return the other parameters."""
        return {}

    def models(self, n_classes: int = 2) -> Models:
        """Return untrained base classifiers, none yet."""
        return make_models(make_base(self.base), n_classes)

    def settings(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them; with a River object there are none."""
        name, bank = saved_bank(make_base(self.base))
        return self._parameters() | {"base": [name, bank.settings()]}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Return the transformation whose `settings` these are."""
        return cls(**dict(settings) | {"base": base_of(*settings["base"])})

    def clone(self) -> Self:
        """Return one of the same parameters."""
        base = self.base.clone() if isinstance(self.base, RiverClassifier) else self.base
        return type(self)(**self._parameters() | {"base": base})
