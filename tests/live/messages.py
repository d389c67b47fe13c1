"""Messages as a careless world sends them."""

import json
import random

import numpy as np

from marlene.live import Record

WORDS = [f"word{i}" for i in range(30)]
LABELS = ["bill", "crash", "login", "other"]
GARBAGE = [
    b"",
    b"{",
    b"\xff\xfe",
    b"[1, 2]",
    b'{"id": 1}',
    b'{"id": null, "x": {}}',
    b'{"id": [1], "x": {}}',
    b'{"id": "g", "x": []}',
    b'{"id": "g", "x": {"word1": [1]}}',
    b'{"id": "g", "x": {"word1": {"a": [1]}}}',
    b'{"id": "g", "x": {"word1": 1e999}, "y": {"bill": true}}',
    b'{"id": "g", "x": {"word1": "text"}, "y": {"bill": true}}',
    b'{"id": "g", "x": {}, "y": {"bill": 2}}',
    b'{"id": "g", "x": {}, "y": {"bill": "yes"}}',
    b'{"id": "g", "x": {}, "y": "bill"}',
    b'{"id": "g", "x": {}, "y": [["bill"]]}',
    b'{"id": "g", "x": {}, "y": [null]}',
    b'{"id": "g", "x": {}, "w": -1, "y": {"bill": true}}',
    b'{"id": "g", "x": {}, "w": NaN, "y": {"bill": true}}',
    b'{"id": "g", "x": {}, "stream": 3}',
    b'{"id": "g", "x": {}, "time": "now"}',
    b'{"id": "nobody", "y": {"bill": true}}',
    b"[" * 100_000,
    b'{"id": "g", "x": {"a": ' + b"9" * 5000 + b"}}",
]
"""Messages that cannot be used, whatever came before."""


def example(rng):
    """Return words and the labels that follow from them."""
    words = rng.sample(WORDS, 6)
    y = {label: any(int(word[4:]) % 4 == i and int(word[4:]) < 12 for word in words) for i, label in enumerate(LABELS)}
    return dict.fromkeys(words, 1), y


def tickets(count, seed=1, delay=3, garbage=0.02, key=None):
    """Return messages: requests, labels that come later in any order or never, duplicates, and garbage."""
    rng, found, late = random.Random(seed), [], []
    for number in range(count):
        x, y = example(rng)
        about = {key: rng.choice("abc")} if key else {}
        about |= {"time": 1000.0 + number}
        if rng.random() < 0.3:
            found.append({"id": number, "x": x, "y": y, **about})
        else:
            found.append({"id": number, "x": x, **about})
            if rng.random() < 0.9:
                parts = [y] if rng.random() < 0.8 else [{k: y[k] for k in LABELS[:2]}, {k: y[k] for k in LABELS[2:]}]
                late += [(number + rng.randint(0, delay), {"id": number, "y": part, **about}) for part in parts]
        if rng.random() < 0.05:
            found.append(rng.choice(found))
        if rng.random() < garbage:
            found.append(rng.choice(GARBAGE[:-3]))
        due = [message for when, message in late if when <= number]
        late = [(when, message) for when, message in late if when > number]
        rng.shuffle(due)
        found += due
    return [message if isinstance(message, bytes) else json.dumps(message).encode() for message in found]


def records(messages, source="test", first=0):
    return [Record(source, position + 1, message) for position, message in enumerate(messages, first)]


def said(worker, messages, sizes=None):
    """Return what a worker says of messages, taken in lots of these sizes."""
    found, lots = [], records(messages, first=worker.counts["messages"])
    while lots:
        size = sizes() if sizes else len(lots)
        found += [(output.channel, output.body) for output in worker.take(lots[:size])]
        lots = lots[size:]
    return found


def same_state(one, other):
    (header, arrays), (other_header, other_arrays) = one.state(), other.state()
    assert json.loads(json.dumps(header)) == json.loads(json.dumps(other_header))
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, other_arrays[name], err_msg=name)


def answers(outputs):
    return [json.loads(body) for channel, body in outputs if channel == "answer"]
