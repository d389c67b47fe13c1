"""Write the page of formats: `python tools/formats.py`. It says what the descriptions of states say."""

from __future__ import annotations

from pathlib import Path

from marlene.banks._inputs import INPUTS
from marlene.banks._linear import LINEAR_FIELDS
from marlene.banks._naive_bayes import BAYES_FIELDS
from marlene.banks._neighbours import WINDOW
from marlene.evaluation import _checkpoint, _result
from marlene.experiments import _store
from marlene.learners import _saved
from marlene.learners.baselines._adaptive_tree_state import ADAPTIVE_TREE
from marlene.learners.baselines._multi_target import TREE
from marlene.learners.marlene._decisions import CUTS_OF_LABELS, DECISIONS
from marlene.learners.marlene._state import MEMBERS, RECORDS
from marlene.learners.marlene._tracker_fields import PARTS
from marlene.live import _checkpoints
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
    WINDOW,
    FOREST,
    DECISIONS,
    CUTS_OF_LABELS,
    TREE,
    ADAPTIVE_TREE,
)
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
The following parts are described by one object each (`marlene._common.layouts.Layout`), by which they are also checked
when they are loaded. Lengths that have the same name are equal. Other parts are checked by the classes that own them.

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
