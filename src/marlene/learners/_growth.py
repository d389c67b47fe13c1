"""A word to those whose learner grows without a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene._common.errors import warn_user

if TYPE_CHECKING:
    from marlene.learners.marlene._ensemble import Ensemble

MANY = {"features": 100_000, "labels": 10_000, "models": 10_000}
"""How many make a warning worth while."""


class Growth:
    """Warns once if there are many features, labels or models, and nothing bounds them.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     growth = Growth()
    ...     growth.see("labels", 20_000, None)
    ...     growth.see("labels", 20_001, None)
    >>> print(*[each.message for each in said])
    more than 10,000 labels: memory grows with them; max_labels= bounds it
    """

    def __init__(self) -> None:
        self._told: set[str] = set()

    def see_models(self, ensemble: Ensemble, bound: int | None) -> None:
        """Note how many members vote, if there are so many that it matters."""
        if len(ensemble.origins) > MANY["models"]:
            self.see("models", len(ensemble.active), bound)

    def see(self, what: str, count: int, bound: int | None) -> None:
        """Note how many there are now."""
        if bound is None and count > MANY[what] and what not in self._told:
            self._told.add(what)
            said = f"more than {MANY[what]:,} {what}: memory grows with them; max_{what}= bounds it"
            warn_user(said)
