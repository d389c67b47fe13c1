"""The critical-difference diagram."""

import sys

import pytest

from marlene._common.errors import MarleneError
from marlene.experiments import critical_difference_diagram

RANKS = [4.6, 1.2, 2.0, 2.4, 4.8]
NAMES = ["a", "b", "c", "d", "e"]


def bars(figure):
    """Return from where to where the bars of groups reach."""
    lines = [line for line in figure.axes[0].lines if line.get_linewidth() == 3]
    return [tuple(round(float(x), 2) for x in line.get_xdata()) for line in lines]


def test_every_method_is_named_once_and_its_line_starts_at_its_rank():
    figure = critical_difference_diagram(RANKS, NAMES, 1.3)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert [text for text in texts if text[0].islower()] == ["b  1.20", "c  2.00", "d  2.40"]
    assert [text for text in texts if text[-1].islower()] == ["4.60  a", "4.80  e"]
    starts = sorted(float(line.get_xdata()[0]) for line in figure.axes[0].lines if len(line.get_xdata()) == 3)
    assert starts == sorted(RANKS)
    assert "CD = 1.30" in texts


def test_bars_join_what_does_not_differ():
    assert bars(critical_difference_diagram(RANKS, NAMES, 1.3)) == [(1.16, 2.44), (4.56, 4.84)]
    assert bars(critical_difference_diagram(RANKS, NAMES, 1.0)) == [(1.16, 2.04), (1.96, 2.44), (4.56, 4.84)]


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_it_is_saved(tmp_path, suffix):
    path = tmp_path / f"diagram.{suffix}"
    critical_difference_diagram(RANKS, NAMES, 1.3, path, title="Macro-G-Mean")
    start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix]
    assert path.read_bytes().startswith(start)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MarleneError, match=r"drawing a diagram needs .* pip install \"marlene\[experiments\]\""):
        critical_difference_diagram(RANKS, NAMES, 1.3)


def test_a_name_for_every_rank():
    with pytest.raises(MarleneError, match="a name for every rank"):
        critical_difference_diagram(RANKS, NAMES[:-1], 1.3)
