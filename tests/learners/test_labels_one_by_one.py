"""Labels that come one after the other: all arrays grow, each in its own steps."""

from marlene import Marlene

LABELS = 45


def test_the_window_may_have_more_room_for_labels_than_the_work_space():
    model, more = Marlene(features="binary"), 0
    for number in range(LABELS):
        for turn in range(3):
            x = {f"word {number % 7}": 1, f"turn {turn}": 1}
            model.learn_one(x, {f"label {number}": turn == 0, "label 0": turn == 1})
            predicted = model.predict_one(x)
            assert len(predicted) == number + 1
            tracker = model._tracker.model()
            more += tracker.kinds.window.truth.shape[1] > tracker.scratch.window.votes.shape[1]
    assert more  # kernels with bounds checks, in `make test-bounds`, would notice what is written beyond
