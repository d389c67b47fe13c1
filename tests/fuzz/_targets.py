"""All ways in, by name."""

from __future__ import annotations

from tests.fuzz import _lives, _readers, _states, _texts
from tests.fuzz._run import Target

TARGETS: dict[str, Target] = {
    found.name: found
    for module in (_readers, _texts, _states, _lives)
    for found in vars(module).values()
    if isinstance(found, Target)
}
