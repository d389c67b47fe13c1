"""What is known of the features, as JSON holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.states import plain, require
from marlene.learners.input._features import KINDS

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from marlene.learners.input._features import FeatureSpace


def space_header(space: FeatureSpace) -> dict[str, Any]:
    """Return names, kinds and codes of the features."""
    return {
        "names": [plain(name) for name in space.names],
        "kinds": list(space.kinds),
        "codes": [list(codes) for codes in space.codes],
        "layouts": [[stream, layout.tolist()] for stream, layout in space.layouts.items()],
    }


def wanted_features(features: str | Mapping[Hashable, str]) -> str | list[list[Hashable]]:
    """Return the parameter `features` as JSON can hold it, whose mappings have no keys but texts."""
    return features if isinstance(features, str) else [[plain(name), kind] for name, kind in features.items()]


def restore_space(space: FeatureSpace, header: Mapping[str, Any]) -> None:
    """Fill an empty feature space."""
    space.column = {name: column for column, name in enumerate(header["names"])}
    space.kinds = list(header["kinds"])
    space.codes = [{value: code for code, value in enumerate(values)} for values in header["codes"]]
    space.layouts = {stream: np.array(layout, np.int64) for stream, layout in header["layouts"]}
    require(all(kind in KINDS for kind in space.kinds), "the kinds of the features")
    require(len(space.column) == len(space.kinds) == len(space.codes), "the features")
    require(all(((a >= 0) & (a < len(space.kinds))).all() for a in space.layouts.values()), "the features")
