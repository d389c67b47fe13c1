"""The product run step by step, seen as the naive BR-MARLENE's replays are."""

import numpy as np

from marlene.drift import DRIFT, WARNING
from marlene.kernels.ensemble.state import JOBS
from marlene.learners import BRMarlene


class Watched(BRMarlene):
    """BR-MARLENE that writes down what its detectors said."""

    def __init__(self, **parameters):
        super().__init__(**parameters)
        self.events = []
        ensemble = self._ensemble
        react = ensemble._react

        def watched(tasks, task, signal):
            if signal == DRIFT:
                kind = "drift_without_background" if tasks.background[task] == -1 else "drift"
                self.events.append((tasks.name, tasks.seen, tasks.labels[task], kind))
            react(tasks, task, signal)

        ensemble._react = watched
        advance = ensemble._advance

        def noted(voters, tasks, batch):
            self.batch = batch
            return advance(voters, tasks, batch)

        ensemble._advance = noted

    def learn_many(self, X, Y, stream=None):
        """Learn one row, and write down who warned of it."""
        super().learn_many(X, Y, stream=stream)
        tasks = self.tasks(stream)
        for task in np.flatnonzero(tasks.arrays.signal == WARNING).tolist():
            self.events.append((stream, tasks.seen - 1, tasks.labels[task], "warning"))

    def tasks(self, stream):
        return self._ensemble.streams[stream]

    def weights(self, stream):
        """Return the weight each label's latest sub-classifier learnt the last example with."""
        jobs, count = self._ensemble._work.jobs, self.batch.position[JOBS]
        given = dict(zip(jobs.member[:count].tolist(), jobs.weight[:count].tolist(), strict=True))
        return [given.get(h) for h in self.tasks(stream).latest.tolist()]

    def final_table(self, stream_numbers):
        """Return every record in the order and with the columns of the recorded tables."""
        ensemble = self._ensemble
        rows = []
        weights = ensemble.judged()[:, 0]
        for h in ensemble.active.tolist():
            origin = ensemble.origins[h]
            negative, positive = ensemble.members.offered[h].tolist()
            for task, label in enumerate(ensemble.target.labels):
                record = [*ensemble.records[task, :, h], weights[task, h]]
                stream = stream_numbers[origin.stream]
                rows.append((stream, origin.label, origin.number, label, *record, positive, negative))
        return np.array(sorted(rows))


def run(model, X, Y, stream=None):
    """Learn rows one by one; return P⁺ and ASWR before each (target), weights and sub-classifier counts after."""
    probabilities, ratios, k, n_sub = [], [], [], []
    for t in range(len(Y)):
        known = bool(model._ensemble.target.labels)
        if stream is None:
            probabilities.append(model.predict_proba_many(X[t : t + 1])[0] if known else np.full(Y.shape[1], 0.5))
            ratios.append(model.aswr())
        model.learn_many(X[t : t + 1], Y[t : t + 1], stream=stream)
        k.append(model.weights(stream))
        n_sub.append(model.tasks(stream).concepts.tolist())
    return np.array(probabilities), np.array(ratios), np.array(k), np.array(n_sub)
