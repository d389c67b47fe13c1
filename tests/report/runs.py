"""Small runs whose reports are looked at."""

import functools

import numpy as np

from marlene import Marlene
from marlene.evaluation import prequential
from marlene.streams import Stream

NASTY = ("<script>alert(1)</script>", "</script><b>bold</b>", "a & 'b' \"c\"", "__proto__", "naïve ✓", "point.x[0]")


@functools.cache
def result(n=700, names=NASTY):
    """Return the result of a run in which labels move to the next name in the middle."""
    rng = np.random.default_rng(1)
    X = (rng.random((n, 12)) < 0.3).astype(float)
    X[:, :3] = rng.normal(size=(n, 3))
    Y = np.stack([X[:, q + 3] + (X[:, q % 3] > 0.8) > 0.5 for q in range(len(names))], axis=1).astype(np.int8)
    features = [f"<i>{i}</i>" for i in range(12)]
    stream = Stream.from_arrays(X, Y, features=features, labels=list(names), name="<img src=x onerror=alert(2)>")
    return prequential(Marlene(), stream.rotated(), method="marlene <b>")
