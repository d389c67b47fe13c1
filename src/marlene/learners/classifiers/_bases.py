"""The parameter `base`: what sort of base classifiers a learner has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from river.base import Classifier as RiverClassifier

from marlene._common.errors import MarleneError
from marlene.banks import SIMPLE_BANKS, InputBank, MixedBank
from marlene.learners.classifiers._river_bank import RiverClassifierBank
from marlene.trees import HoeffdingForest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from marlene.learners.classifiers._protocol import ClassifierBank

FOREST = "hoeffding-forest"
INHERITING = "inheriting-forest"
SavedBank = HoeffdingForest | InputBank | MixedBank
BASES: dict[str, Callable[..., SavedBank]] = {
    FOREST: lambda **settings: HoeffdingForest([], **settings),
    INHERITING: lambda **settings: HoeffdingForest([], **{"inherit": True, "effective_size": True} | settings),
    **SIMPLE_BANKS,
    MixedBank.name: MixedBank,
}
NOT_SAVED = "a learner that holds River objects cannot be saved: only arrays can, never Python objects"


def make_base(base: str | ClassifierBank | RiverClassifier) -> ClassifierBank:
    """Return an empty bank of base classifiers from the parameter `base`."""
    if isinstance(base, str):
        if base not in BASES:
            raise MarleneError(f"base must be one of {', '.join(BASES)} or a bank, not {base!r}")
        return BASES[base]()
    if isinstance(base, RiverClassifier):
        return RiverClassifierBank(base)
    if isinstance(base, HoeffdingForest) and (len(base.kinds) or base.n_classes != 2):
        raise MarleneError("base must be a forest without features and with two classes, such as HoeffdingForest([])")
    if not hasattr(base, "votes"):
        raise MarleneError(f"base must be one of {', '.join(BASES)}, a bank or a classifier of River, not {base!r}")
    return base.clone()


def base_of(name: str, settings: Mapping[str, Any]) -> str | ClassifierBank:
    """Return the parameter `base` that leads to a bank of these settings, its name if they are the defaults."""
    if name not in BASES:
        raise MarleneError(f"there are no base classifiers {name!r}")
    bank = BASES[name](**settings)
    for usual, make in BASES.items():
        if type(make()) is type(bank) and make().settings() == bank.settings():
            return usual
    return bank


def saved_bank(bank: object) -> tuple[str, SavedBank]:
    """Return what a bank is called in files, and the bank; one that holds Python objects cannot be saved."""
    if not isinstance(bank, SavedBank):
        raise MarleneError(NOT_SAVED)
    return (FOREST if isinstance(bank, HoeffdingForest) else bank.name), bank
