"""What notebooks show of learners, streams and results; and the figure of a result."""

from html.parser import HTMLParser

import numpy as np
import pytest

from marlene import BRMarlene, Marlene
from marlene._common import extras
from marlene._common.errors import MissingExtraError
from marlene.evaluation import prequential
from marlene.learners import Majority, create
from marlene.learners._methods import METHODS
from marlene.streams import Stream, load

NASTY = "<script>alert(1)</script>"
OPEN = ("br", "img", "polyline")


class Balanced(HTMLParser):
    """Checks that every element is closed, and collects the texts."""

    def __init__(self, html):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, _attrs):
        assert tag != "script"
        self.open += [tag] if tag not in OPEN else []

    def handle_endtag(self, tag):
        if tag not in OPEN:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def small(n=120, labels=(NASTY, "b")):
    rng = np.random.default_rng(1)
    X = rng.random((n, 2)).round(2)
    return Stream.from_arrays(X, (X > 0.5).astype(np.int8), labels=list(labels), name="small & <b>")


def test_a_stream():
    texts = Balanced(small().rotated()._repr_html_()).texts
    assert NASTY in texts
    assert "60" in texts  # where it drifts
    assert "120 examples; 2 features: 2 numeric; 2 labels" in texts
    wide = Stream.from_arrays(np.zeros((3, 1)), np.zeros((3, 30), np.int8))
    assert "and 10 more" in Balanced(wide._repr_html_()).texts


def test_a_lazy_stream(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("x,y1,y2\n" + "1,0,1\n2,1,0\n" * 20, encoding="utf-8")
    lazy = load(table, labels="y*", lazy=True)
    assert "read part by part; 1 features and 2 labels so far" in Balanced(lazy._repr_html_()).texts
    assert sum(len(part) for part in lazy.parts()) == 40


@pytest.mark.parametrize("method", ["marlene", "br-marlene", "eacc"])
def test_learners_before_and_after_learning(method):
    assert method in METHODS
    model = create(method)
    assert "0 features, 0 labels" in "".join(Balanced(model._repr_html_()).texts)
    stream = small()
    model.declare(stream.features, stream.labels)
    model.learn_many(stream.X, stream.Y)
    shown = Balanced(model._repr_html_()).texts
    assert "2 features, 2 labels" in "".join(shown)
    assert NASTY in shown
    assert ("most of the vote" in shown) == isinstance(model, Marlene | BRMarlene)
    assert ("threshold" in shown) == isinstance(model, Marlene)


def test_a_result():
    result = prequential(Majority(), small())
    html = result._repr_html_()
    assert f"{result.macro_gmean:.3f}" in Balanced(html).texts
    assert "<polyline" in html
    stopped = prequential(Majority(), small(), callbacks=[lambda _: True])
    assert "nan" in Balanced(stopped._repr_html_()).texts


def test_a_figure_in_a_line():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    result = prequential(Majority(), small().rotated())
    axes = result.plot()
    lines = axes.get_lines()
    np.testing.assert_array_equal(lines[0].get_ydata(), result.trace("macro_gmean"))
    assert lines[0].get_xdata()[-1] == 120
    assert list(lines[4].get_xdata()) == [60, 60]
    assert result.plot(axes) is axes
    pyplot.close("all")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(extras.importlib, "import_module", absent)
    with pytest.raises(MissingExtraError, match=r'pip install "marlene\[experiments\]"'):
        prequential(Majority(), small()).plot()
