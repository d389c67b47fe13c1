"""Sources that have no feature in common with the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene._common.errors import warn_user

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from marlene.learners.input._features import FeatureSpace


def warn_of_strangers(space: FeatureSpace, names: Iterable[Hashable], stream: str | None, begun: bool) -> None:
    """Warn of sources that have no feature in common with the target, before a stream with these names begins.

    `begun`: whether the target has labels already. Streams that were not declared may have all known features.
    """
    mine = {column for name in names for column in space.columns_of(name)}
    declared = {name: set(layout.tolist()) for name, layout in space.layouts.items()}
    target = declared.pop(None, None)
    if stream is not None:
        lonely = not mine & target if target is not None else begun and not mine
        strangers = [f"source {stream!r} has"] if lonely else []
    elif declared:
        strangers = [f"source {name!r} has" for name, theirs in declared.items() if not mine & theirs]
    else:
        sources = space.column and target is None and not begun
        strangers = ["the sources have"] if sources and not mine else []
    for who in strangers:
        said = f"{who} no feature in common with the target so far: nothing can be learnt there"
        warn_user(said)
