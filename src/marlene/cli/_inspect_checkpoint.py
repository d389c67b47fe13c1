"""`marlene inspect` of a worker's checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from marlene._common.states import arrays_under
from marlene.cli._summary import print_plainly
from marlene.evaluation._result import dump_json
from marlene.live._checkpoints import read_checkpoint
from marlene.live._metrics import SCORES
from marlene.metrics import Scores

SUFFIX = ".npz"


def inspect_checkpoint(path: str, json: bool) -> bool:
    """Print what is in a checkpoint; return False if the file is none by its name."""
    if not path.endswith(SUFFIX) or not Path(path).is_file():
        return False
    header, arrays = read_checkpoint(path)
    models = [_model(model, arrays_under(arrays, f"{number}.")) for number, model in enumerate(header["models"])]
    report: dict[str, Any] = {**header["identity"], "positions": header["positions"], "counts": header["counts"]}
    report |= {"models": models}
    if json:
        print(dump_json(report))
        return True
    console = Console()
    learner = report["learner"]
    print_plainly(
        console,
        f"{path}: a worker with the method {learner['method']}, {len(models)} model{'' if len(models) == 1 else 's'}",
    )
    for name, value in learner["parameters"].items():
        print_plainly(console, f"  {name}: {value}")
    print_plainly(console, "positions: " + ", ".join(f"{name} at {at}" for name, at in report["positions"].items()))
    print_plainly(console, ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in report["counts"].items()))
    for model in models:
        key = "" if model["key"] is None else f"{model['key']}: "
        scores = ", ".join(f"{name} {value:.3f}" for name, value in model["scores"].items())
        sizes = f"{model['learnt']} examples learnt, {model['waiting']} wait, {model['features']} features"
        print_plainly(console, f"{key}{sizes}, {len(model['labels'])} labels; {scores or 'no scores yet'}")
    return True


def _model(model: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    scores = arrays_under(arrays, "scores.")
    kept = Scores.from_state(scores) if scores else None
    return {
        "key": model["key"],
        "learnt": model["learnt"],
        "waiting": len(model["waiting"]["ids"]),
        "features": len(model["learner"]["space"]["names"]),
        "labels": model["labels"],
        "sources": model["streams"],
        "changes": model["changes"],
        "scores": {name: float(getattr(kept, name)) for name in SCORES} if kept is not None else {},
    }
