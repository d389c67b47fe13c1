"""What changed in a model: labels that drifted or inherited."""

from __future__ import annotations

from typing import Any


def changes(learner: Any, seen: int) -> list[tuple[int, dict[str, Any]]]:  # noqa: ANN401 (any learner)
    """Return the changes after example number `seen`, the earliest first, each with the number of its example."""
    tell = getattr(learner, "concepts", None)
    if not callable(tell):
        return []
    found = []
    for label, times in tell().items():
        given = times if isinstance(times, dict) else dict.fromkeys(times)
        for time, giver in given.items():
            if time > seen:
                found.append((int(time), _event(label, int(time), giver)))
    return sorted(found, key=lambda pair: pair[0])


def _event(label: Any, time: int, giver: Any) -> dict[str, Any]:  # noqa: ANN401 (a name; a stream and a label)
    event = {"event": "drift", "label": label, "example": time}
    if giver is None or tuple(giver) == (None, label):
        return event
    stream, name = giver
    return event | {"event": "inherited", "from": {"stream": stream, "label": name}}
