"""The worker: the same outputs however messages are cut, and a defined fate for every message."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene import BRMarlene, Marlene
from marlene._common.errors import MarleneError
from marlene.learners import BinaryRelevance
from marlene.live import Worker, WorkerSettings, _waiting
from tests.live.messages import GARBAGE, LABELS, answers, example, said, same_state, tickets

BASES = [Marlene, lambda: Marlene(base="naive-bayes", absent="false"), lambda: BRMarlene(seed=3)]


def ask(name, x, **more):
    return json.dumps({"id": name, "x": x, **more}).encode()


def tell(name, y, **more):
    return json.dumps({"id": name, "y": y, **more}).encode()


def fate(worker):
    return {name: count for name, count in worker.counts.items() if count and name != "messages"}


@pytest.mark.parametrize("make", BASES)
@pytest.mark.parametrize("never", ["drop", "unknown"])
def test_lots_of_any_size_give_the_same(make, never):
    messages, chosen = tickets(300), WorkerSettings(max_waiting=20, max_age=30.0, never=never, max_features=25)
    rng = random.Random(5)
    whole, parts, single = (Worker(make(), chosen) for _ in range(3))
    expected = said(whole, messages)
    assert said(parts, messages, lambda: rng.randint(1, 40)) == expected
    assert said(single, messages, lambda: 1) == expected
    same_state(whole, parts)
    same_state(whole, single)
    assert whole.counts["evicted"] > 5
    assert whole.counts["dead"] > 5


def test_predictions_are_those_of_the_learner_one_by_one():
    rng, learner, worker = random.Random(2), Marlene(), Worker(Marlene())
    messages, expected = [], []
    for number in range(200):
        x, y = example(rng)
        probabilities = {label: round(p[True], 6) for label, p in learner.predict_proba_one(x).items()}
        labels = [label for label, value in learner.predict_one(x).items() if value]
        expected.append({"id": number, "labels": labels, "proba": probabilities, "model": number})
        learner.learn_one(x, y)
        messages += [ask(number, x), tell(number, y)]
    assert answers(said(worker, messages)) == expected


@pytest.mark.parametrize("make", BASES)
def test_a_worker_goes_on_from_its_state(make):
    messages = tickets(200, seed=3, key="tenant")
    chosen = WorkerSettings(key="tenant", max_waiting=30, teach="a", lessons=20)
    whole, first = Worker(make(), chosen), Worker(make(), chosen)
    expected = said(whole, messages)
    before = said(first, messages[:130])
    second = Worker(make(), chosen)
    header, arrays = first.state()
    second.restore(json.loads(json.dumps(header)), arrays)
    assert before + said(second, messages[130:]) == expected
    same_state(whole, second)
    assert sorted(whole.desks) == ["a", "b", "c"]


@pytest.mark.parametrize("part", ["clock", "models", "positions"])
def test_a_damaged_state_changes_nothing(part):
    worker, other = Worker(Marlene()), Worker(Marlene())
    said(worker, [ask(1, {"a": 1}, y={"z": True}), ask(2, {"a": 1})])
    said(other, [ask(3, {"b": 1}, y={"q": True})])
    before = worker.state()
    header, arrays = other.state()
    with pytest.raises((MarleneError, TypeError)):
        worker.restore(header | {part: None}, arrays)
    assert worker.state()[0] == before[0]


def test_every_unusable_message_is_said_with_its_reason():
    worker = Worker(Marlene(), WorkerSettings(longest=90_000))
    said(worker, [ask("first", {"word1": 1}, y={"bill": False})])
    found = said(worker, GARBAGE)
    dead = [json.loads(body) for channel, body in found if channel == "dead"]
    assert len(dead) == len(found) == len(GARBAGE)
    assert all("\n" not in letter["error"] and letter["error"] for letter in dead)
    assert [letter["position"] for letter in dead] == [*range(2, len(GARBAGE) + 2)]
    assert worker.counts["dead"] == len(GARBAGE)
    assert worker.counts["learnt"] == 1


@settings(max_examples=150)
@given(
    st.binary(max_size=60)
    | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(
        lambda value: json.dumps({"id": 1, "x": {"a": value}, "y": {"b": value}}).encode()
    )
)
def test_nothing_ends_a_worker(body):
    worker = Worker(Marlene(base="naive-bayes"))
    said(worker, [ask("first", {"a": 1}, y={"b": True}), body, ask("last", {"a": 1})])
    assert worker.counts["messages"] == 3
    assert worker.counts["predictions"] >= 2


def test_nested_fields_are_features_of_their_own():
    plain, nested = Worker(Marlene()), Worker(Marlene())
    told = said(plain, [ask(1, {"a.b": 1, "a.c": "red"}, y={"z": True}), ask(2, {"a.b": 1})])
    assert said(nested, [ask(1, {"a": {"b": 1, "c": "red"}}, y={"z": True}), ask(2, {"a": {"b": 1}})]) == told
    again = [ask(2, {"a": {"b": 1}}), tell(2, {"z": False})]  # it waits with the same x
    assert said(nested, again) == said(plain, [ask(2, {"a.b": 1}), tell(2, {"z": False})])
    assert nested.counts["contradictions"] == nested.counts["dead"] == 0
    same_state(plain, nested)


def test_labels_twice_are_learnt_once():
    worker = Worker(Marlene())
    said(worker, [ask(1, {"a": 1}), tell(1, {"bill": True}), tell(1, {"bill": True}), tell(1, {"bill": False})])
    assert fate(worker) == {
        "predictions": 1, "learnt": 1, "duplicates": 1, "contradictions": 1, "dead": 1, "new_labels": 1
    }  # fmt: skip


def test_labels_in_pieces():
    worker = Worker(Marlene())
    said(worker, [ask(0, {"a": 1}, y={"bill": True, "crash": False})])
    said(worker, [ask(1, {"a": 1}), tell(1, {"bill": True})])
    assert list(worker.desks[None].waiting.examples) == [1]
    assert worker.counts["learnt"] == 2
    said(worker, [tell(1, {"bill": True}), tell(1, {"bill": False, "crash": True})])
    assert (worker.counts["duplicates"], worker.counts["contradictions"]) == (1, 1)
    said(worker, [tell(1, {"crash": True})])
    assert not worker.desks[None].waiting.examples
    assert worker.counts["learnt"] == 3
    said(worker, [tell(1, {"crash": True}), tell(1, {"bill": True})])
    assert worker.counts["duplicates"] == 3


def test_a_list_of_labels_is_complete():
    worker = Worker(Marlene())
    said(worker, [ask(0, {"a": 1}, y={"bill": True, "crash": False}), ask(1, {"a": 1}), tell(1, ["crash"])])
    assert not worker.desks[None].waiting.examples
    assert worker.counts["learnt"] == 2


def test_a_request_that_is_repeated_gets_the_same_answer():
    worker = Worker(Marlene())
    first = said(worker, [ask(0, {"a": 1}, y={"bill": True}), ask(1, {"a": 1}), ask(2, {"b": 1}, y={"bill": False})])
    again = said(worker, [ask(1, {"a": 1})])
    assert [answer for answer in answers(first) if answer["id"] == 1] == answers(again)
    said(worker, [ask(1, {"a": 2})])
    assert worker.counts["contradictions"] == 1
    third = said(worker, [ask(0, {"a": 1}, y={"bill": True}), ask(0, {"a": 1})])
    assert answers(third) == 2 * answers(first)[:1]  # though its labels are learnt
    assert worker.counts["learnt"] == 2
    said(worker, [ask(0, {"a": 1}, y={"bill": False})])
    assert (worker.counts["contradictions"], worker.counts["learnt"]) == (2, 2)


def test_so_many_answers_are_remembered(monkeypatch):
    monkeypatch.setattr(_waiting, "ANSWERS", 2)
    worker = Worker(Marlene())
    first = said(worker, [ask(i, {"a": i % 2}, y={"bill": i % 2 == 0}) for i in range(10)])
    again = answers(said(worker, [ask(i, {"a": i % 2}) for i in (7, 8, 9)]))
    assert [answer["model"] for answer in again] == [10, 8, 9]
    assert again[1:] == answers(first)[8:]


def test_waiting_is_bounded_by_number():
    worker = Worker(Marlene(), WorkerSettings(max_waiting=3))
    outputs = said(worker, [ask(i, {"a": 1}) for i in range(5)] + [tell(0, {"bill": True})])
    evicted = [json.loads(body) for channel, body in outputs if channel == "event"]
    assert [(event["id"], event["reason"]) for event in evicted] == [(0, "number"), (1, "number")]
    assert (worker.counts["late"], worker.counts["dead"], worker.counts["learnt"]) == (1, 1, 0)


def test_waiting_is_bounded_by_age():
    worker = Worker(Marlene(), WorkerSettings(max_age=10.0))
    said(worker, [ask(1, {"a": 1}, time=100.0), ask(2, {"a": 1}, time=105.0), ask(3, {"a": 1}, time=111.0)])
    assert list(worker.desks[None].waiting.examples) == [2, 3]


def test_examples_without_labels_can_be_learnt_as_unknown():
    def after(never):
        worker = Worker(Marlene(), WorkerSettings(max_waiting=1, never=never))
        said(worker, [ask(0, {"a": 1}, y={"bill": True}), ask(1, {"a": 1, "b": 1}), ask(2, {"a": 1})])
        return worker

    assert (after("drop").desks[None].learnt, after("unknown").desks[None].learnt) == (1, 2)


def test_labels_and_features_are_bounded():
    worker = Worker(Marlene(), WorkerSettings(max_labels=2, max_features=3))
    said(worker, [ask(0, {"a": 1, "b": 1}, y={"bill": True, "crash": False})])
    said(worker, [ask(1, {"c": 1, "d": 1}, y={"bill": True}), ask(2, {"c": 1}, y={"login": True})])
    assert worker.counts["dead"] == 1
    assert list(worker.desks[None].blocks.learner._space.column) == ["b", "c", "d"]  # the oldest is forgotten
    fewer = Worker(Marlene(max_features=2), WorkerSettings(max_features=3))
    said(fewer, [ask(0, {"a": 1, "b": 1, "c": 1}, y={"bill": True})])
    assert fewer.desks[None].blocks.features == 2


def test_ever_new_words_do_not_fill_the_memory():
    worker = Worker(Marlene(base="naive-bayes"), WorkerSettings(max_features=50, max_waiting=10))
    for number in range(300):
        said(worker, [ask(number, {f"new{number}-{i}": 1 for i in range(10)}, y={"bill": number % 2 == 0})])
    assert 40 <= worker.desks[None].blocks.features <= 50
    assert worker.counts["learnt"] == 300
    assert len(worker.desks[None].waiting.gone) == 10


def test_models_are_bounded_and_apart():
    worker = Worker(Marlene(), WorkerSettings(key="tenant", max_keys=2))
    said(worker, [ask(1, {"a": 1}, y={"bill": True}, tenant=name) for name in "abc"])
    assert list(worker.desks) == ["a", "b"]
    assert worker.counts["dead"] == 1
    (found,) = answers(said(worker, [ask(2, {"a": 1}, tenant="a")]))
    assert found["key"] == "a"
    said(worker, [ask(3, {"a": 1})])
    assert worker.counts["dead"] == 2


def test_a_new_model_is_taught_by_another():
    rng, chosen = random.Random(4), WorkerSettings(key="tenant", teach="old")
    lessons = [ask(i, x, y=y, tenant="old") for i, (x, y) in enumerate(example(rng) for _ in range(50))]
    worker = Worker(Marlene(), chosen)
    said(worker, [*lessons, ask(1, {"word1": 1}, y={"bill": True}, tenant="new")])
    assert set(worker.desks["new"].blocks.learner.concepts("old")) == set(LABELS)
    assert worker.desks["old"].blocks.streams == set()


def test_sources_are_learnt_and_weights_too():
    worker = Worker(Marlene())
    said(worker, [ask(i, {"a": i % 2}, y={"bill": i % 2 == 0}, stream="archive", w=2.0) for i in range(20)])
    said(worker, [ask("t", {"a": 1}, stream="archive"), tell("t", {"bill": False}), ask("u", {"a": 1})])
    assert worker.desks[None].blocks.streams == {"archive"}
    assert (worker.counts["learnt"], worker.counts["predictions"]) == (21, 1)
    without = Worker(BRMarlene())
    said(without, [ask(1, {"a": 1}, y={"bill": True}, w=2.0)])
    assert without.counts["dead"] == 1


def test_changes_of_the_model_are_events():
    rng, messages = random.Random(6), []
    for number in range(1500):
        x, y = example(rng)
        swapped = dict(zip(y, reversed(y.values()), strict=True)) if number > 700 else y
        messages.append(ask(number, x, y=swapped))
    worker = Worker(Marlene())
    events = [json.loads(body) for channel, body in said(worker, messages) if channel == "event"]
    changed = [event for event in events if event["event"] in {"drift", "inherited"}]
    counted = sum(sum(by_label.values()) for by_label in worker.desks[None].changes.values())
    assert len(changed) == counted > 0


def test_scores_are_those_of_the_labels_that_came():
    worker = Worker(Marlene())
    said(worker, tickets(400, garbage=0))
    scores = worker.desks[None].scores
    assert scores.n_labels == 4
    assert scores.macro_gmean > 0.5


def test_what_cannot_be_saved_cannot_serve():
    with pytest.raises(MarleneError, match="cannot be saved, so it cannot serve"):
        Worker(BinaryRelevance(None))


def test_the_state_of_another_worker_is_refused():
    header, arrays = Worker(Marlene()).state()
    with pytest.raises(MarleneError, match="another worker, with parameters"):
        Worker(Marlene(objective="macro")).restore(header, arrays)
    with pytest.raises(MarleneError, match="with key None instead of 'tenant'"):
        Worker(Marlene(), WorkerSettings(key="tenant")).restore(header, arrays)
    with pytest.raises(MarleneError, match="learners of version 99"):
        Worker(Marlene()).restore({**header, "learner_version": 99}, arrays)


@pytest.mark.parametrize("wrong", [{"never": "later"}, {"max_waiting": 0}, {"max_age": 0.0}, {"window": 1.5}])
def test_settings_are_checked(wrong):
    with pytest.raises(MarleneError, match=next(iter(wrong))):
        WorkerSettings(**wrong)
