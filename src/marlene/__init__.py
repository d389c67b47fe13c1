"""Multi-label learning on drifting data streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marlene.learners import BRMarlene, BRPWMarlene, BRResampled, Marlene

__all__ = ["BRMarlene", "BRPWMarlene", "BRResampled", "Marlene"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:  # noqa: ANN401 (any public name)
    """Import a learner when it is first asked for, so that the package itself is there at once."""
    if name in __all__:
        import marlene.learners  # noqa: PLC0415

        return getattr(marlene.learners, name)
    raise AttributeError(f"module 'marlene' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, also those that are imported when they are first asked for."""
    return sorted({*globals(), *__all__} - {"Any", "TYPE_CHECKING", "annotations"})
