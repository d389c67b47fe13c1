"""Write the page of formats: `python tools/formats.py`. It says what the descriptions of states say."""

from __future__ import annotations

from pathlib import Path

from marlene.banks._inputs import INPUTS
from marlene.banks._linear import LINEAR_FIELDS
from marlene.banks._naive_bayes import BAYES_FIELDS
from marlene.banks._neighbours import WINDOW
from marlene.drift import DETECTOR_BANKS
from marlene.evaluation import _checkpoint, _recorder, _result, _run, _traces
from marlene.experiments import _store
from marlene.learners import _saved
from marlene.learners.baselines import (
    _adaptive_tree_state,
    _chain,
    _committee_learner,
    _goowe,
    _inputs,
    _majority,
    _multi_target,
    _pruned_sets,
    _punitive_neighbours,
)
from marlene.learners.classifiers import _classifiers
from marlene.learners.input import _rows
from marlene.learners.marlene import _decisions, _dependence
from marlene.learners.marlene._state import MEMBERS, RECORDS, TASKS
from marlene.learners.marlene._tracker_fields import PARTS
from marlene.live import _checkpoints, _waiting
from marlene.metrics import _calibration, _scores
from marlene.report import _history
from marlene.trees import _forest
from marlene.trees._validity import FOREST

PAGE = Path(__file__).resolve().parents[1] / "docs" / "formats.md"
LAYOUTS = (
    *PARTS.values(),
    INPUTS,
    BAYES_FIELDS,
    LINEAR_FIELDS,
    MEMBERS,
    RECORDS["float64"],
    TASKS,
    *(bank.saved for bank in DETECTOR_BANKS.values()),
    _dependence.LAYOUT,
    WINDOW,
    FOREST,
    _decisions.DECISIONS,
    _decisions.CUTS_OF_LABELS,
    _rows.ROWS,
    _committee_learner.KEYS,
    _classifiers.MEMBER_IDS,
    _classifiers.PARTS,
    _chain.CHAINS,
    _pruned_sets.SETS,
    _goowe.CHUNK_SIZE,
    _goowe.CHUNK,
    _inputs.VALUES,
    _multi_target.TREE,
    _adaptive_tree_state.ADAPTIVE_TREE,
    _punitive_neighbours.MEMORY,
    _majority.LAYOUT,
    _scores.LAYOUT,
    _calibration.LAYOUT,
    _result.LAYOUT,
    _history.LAYOUT,
    _run.PREDICTIONS,
    _traces.KEPT_STEPS,
    _traces.RUNNING_STEPS,
    _recorder.COLLECTED,
    _recorder.POINT,
    _waiting.TEXTS,
)
"""All of them; a test asks that none is missing."""
FILES = (
    ("a learner", _saved.FILE_KIND, _saved.FILE_VERSION),
    ("a forest", _forest.KIND, _forest.VERSION),
    ("a result", _result.FILE_TYPE, _result.VERSION),
    ("the checkpoint of a run", _checkpoint.FILE_TYPE, _checkpoint.VERSION),
    ("a checkpoint of a worker", _checkpoints.FILE_TYPE, _checkpoints.VERSION),
    ("a row of a result store", "JSON", _store.VERSION),
)
BEGIN = """# Formats

`python tools/formats.py` writes this page. [Compatibility](compatibility.md) says which version reads which file.

A state is an npz file. The array `header` holds JSON as bytes: `type`, `version` and `settings`. The array `checksum`
holds a SHA-256 of the header and of the names, types, shapes and bytes of all other arrays, as hexadecimal digits. All
other arrays are what was learnt; parts have names with dots, as `bank0.kinds`.

| file | type | version |
|---|---|---|
"""
MIDDLE = """
Arrays are described part by part. One object for each part (`marlene._common.layouts.Layout`) says what follows here,
and by it the part is checked when it is loaded. Lengths that have the same name are equal. The JSON in the header is
checked by patterns (`refuse_other`) before anything is made of it.

Counts of examples are loaded up to 1e+18. A learner that was loaded with such a count, and has learnt more since, can
be saved but not loaded again; no stream is so long.
"""


def page() -> str:
    """Return the page."""
    files = "".join(f"| {what} | `{kind}` | {version} |\n" for what, kind, version in FILES)
    parts = "".join(f"\n## {layout.whose.capitalize()}\n\n{layout.described()}\n" for layout in LAYOUTS)
    return f"{BEGIN}{files}{MIDDLE}{parts}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
