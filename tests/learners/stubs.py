"""Trees and detectors that do as they are told, and records filled by hand."""


class ConstantTree:
    """Votes as told, whatever it learns."""

    def __init__(self, votes):
        self.constant = votes
        self.learned = []

    def votes(self, _x):
        return self.constant

    def learn(self, x, y, w):
        self.learned.append((x, y, w))


class ScriptedDetector:
    """Says "w"arning, "d"rift or nothing (".") as told, and then nothing more."""

    def __init__(self, script):
        self.script = iter(script)
        self.inputs = []

    def update(self, correct, y):
        signal = next(self.script, ".")
        self.warning, self.drift = signal == "w", signal == "d"
        self.inputs.append((correct, y))


def fill(record, tp=0, fp=0, tn=0, fn=0, alpha=0.0):
    record.tp, record.fp, record.tn, record.fn, record.alpha = tp, fp, tn, fn, alpha


def counts(record):
    return record.tp, record.fp, record.tn, record.fn
