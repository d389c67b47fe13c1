"""Texts and dates, row by row and in frames: the same features as in a stream that is loaded."""

import itertools
import re
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.encoders import TextEncoder, word_hash
from marlene.learners import METHODS, create
from marlene.learners.input._additions import Additions
from marlene.learners.input._encoded import make_encoder
from marlene.learners.input._features import FeatureSpace
from marlene.streams import load
from tests.learners.streams import contents

WORDS = ["Refund", "please", "late", "again", "ink", "Wo", "ist", "größe", "x2", "screen", "2024"]
KINDS = {"created": "date", "subject": "text"}
START = datetime(2024, 1, 30, 5, 7, 9, 123456)  # noqa: DTZ001 (without a time zone)


def tickets(n=150, seed=0):
    """Return a frame with a number, a date and a text, and its labels."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n).round(3)
    urgent, spam = size > 0.3, rng.random(n) < 0.4
    subject = [" ".join(rng.choice(WORDS[s : s + 8], rng.integers(1, 9))) + "!" for s in np.where(spam, 0, 3)]
    created = [START + timedelta(hours=7 * i, seconds=i) for i in range(n)]
    frame = pd.DataFrame({"size": size, "created": created, "subject": subject})
    frame.loc[5, "subject"] = None
    frame.loc[8, "subject"] = "N/A? NaN"
    frame.loc[9, "subject"] = " NA "
    frame.loc[7, "created"] = pd.NaT
    return frame, pd.DataFrame({"urgent": urgent, "spam": spam})


def loaded(frame, truth, **options):
    return load(pd.concat([frame, truth], axis=1), labels=["urgent", "spam"], **options)


@pytest.mark.parametrize("kinds", [KINDS, {"created": "date", "subject": "text:pairs"}])
def test_rows_frames_and_streams_are_the_same_to_the_bit(kinds):
    frame, truth = tickets()
    stream = loaded(frame, truth, kinds=kinds)
    whole, one, many = Marlene(), Marlene(features=kinds), Marlene(features=kinds)
    whole.declare(stream.features, stream.labels)
    for part in (slice(0, 1), slice(1, 2), slice(2, 60), slice(60, 150)):
        expected = whole.test_then_train(stream.X[part], stream.Y[part])
        np.testing.assert_array_equal(many.test_then_train(frame[part], truth[part]), expected)
    for x, y in zip(frame.to_dict("records"), truth.to_dict("records"), strict=True):
        one.learn_one(x, y)
    assert contents(one) == contents(many)
    assert len(one._space) > 12
    np.testing.assert_array_equal(np.asarray(one.predict_proba_many(frame)), whole.predict_proba_many(stream.X))
    polar = Marlene(features=kinds)
    subject, created = ([None if pd.isna(cell) else cell for cell in frame[name]] for name in ("subject", "created"))
    polar.learn_many(
        pl.DataFrame({"size": frame["size"].tolist(), "created": created, "subject": subject}),
        pl.DataFrame(truth.to_dict("list")),
    )
    assert contents(polar) == contents(many)
    for x, row in zip(frame.to_dict("records")[:20], whole.predict_proba_many(stream.X), strict=False):
        assert [
            p[True] for p in whole.predict_proba_one(x).values()
        ] == row.tolist()  # declared, and then told in words


def test_columns_in_another_order_differ_by_rounding_only():
    frame, truth = tickets()
    frame = frame[["subject", "size", "created"]]
    kinds = {"subject": "text:pairs:9", "created": "date"}
    stream = loaded(frame, truth, kinds=kinds)
    whole, one = Marlene(), Marlene(features=kinds)
    whole.declare(stream.features, stream.labels)
    whole.learn_many(stream.X, stream.Y)
    for x, y in zip(frame.to_dict("records"), truth.to_dict("records"), strict=True):
        one.learn_one(x, y)
    np.testing.assert_allclose(np.asarray(one.score_many(frame)), whole.score_many(stream.X), rtol=0, atol=1e-6)


def test_kinds_are_guessed():
    frame, truth = tickets()
    frame.loc[0, "subject"] = "My refund is late"
    guessed, told = Marlene(), Marlene(features=KINDS)
    for model in (guessed, told):
        model.learn_many(frame, truth)
    np.testing.assert_array_equal(guessed.score_many(frame), told.score_many(frame))
    assert guessed._space.encoded == {"created": "date", "subject": "text"}
    model = Marlene()
    model.learn_one({"a": "2024-05-01", "b": date(2024, 5, 1), "c": np.datetime64("2024-05-01"), "d": "v1"}, {"y": 1})
    assert model._space.encoded == {"a": "date", "b": "date", "c": "date"}
    assert len(model._space) == 3 * 7 + 1
    model.learn_one({"a": datetime(2024, 5, 1, tzinfo=UTC), "b": "2024-05-02 10:00", "c": None}, {"y": 0})
    plain = Marlene(features={"s": "nominal"})
    plain.learn_one({"s": "a text of many words"}, {"y": 1})
    assert plain._space.kinds == ["nominal"]


def test_spans_of_time_are_seconds():
    one, many = Marlene(), Marlene()
    spans = pd.Series(pd.to_timedelta([1.5, 86400, np.nan], unit="s"))
    for span in [timedelta(seconds=1.5), np.timedelta64(1, "D"), pd.NaT]:
        one.learn_one({"age": span}, {"y": True})
    many.learn_many(pd.DataFrame({"age": spans}), pd.DataFrame({"y": [1, 1, 1]}))
    assert contents(one) == contents(many)
    assert one._space.kinds == ["numeric"]


@settings(max_examples=60)
@given(
    texts=st.lists(st.text(st.sampled_from("ab Z9ß'é-\u0301#"), max_size=12), max_size=8),
    pairs=st.booleans(),
    limit=st.integers(1, 9),
)
def test_words_are_those_of_the_encoder(texts, pairs, limit):
    encoder = TextEncoder(pairs=pairs, words=limit)
    starts, columns = encoder.encode(texts)
    names = encoder.names()
    expected = [{f"s: {names[c]}" for c in columns[a:b]} for a, b in itertools.pairwise(starts)]
    space = FeatureSpace({"s": f"text:{'pairs:' if pairs else ''}{limit}"})
    found = []
    for text in texts:
        additions = Additions(learning=True)
        found.append({name for name, _ in space._encoders["s"].features(text, additions)})
        space.add(space.rows_of_dicts([{"s": text}], learning=True)[1])
    assert found == expected
    staged = Additions(learning=True)
    one = make_encoder("s", f"text:{'pairs:' if pairs else ''}{limit}")
    assert [{name for name, _ in one.features(text, staged)} for text in texts] == expected
    assert [word for word in names if not word.startswith("#")] == [
        name.removeprefix("s: ") for name in space.column if "#" not in name
    ]


def test_a_hash_depends_on_every_letter():
    words = ["a", "b", "ab", "ba", "a b", "b a", "größe"]
    assert len({word_hash(word) >> 32 for word in words}) == len(words)


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ({"subject": "new words", "size": "big"}, {"spam": 1}, "feature 'size' is numeric: expected a number"),
        ({"subject": "new words", "size": np.inf}, {"spam": 1}, "feature 'size' is numeric: expected a finite number"),
        ({"subject": "new words"}, {"spam": 3}, "label 'spam': expected 0 or 1, found 3"),
        ({"subject": "new words"}, "spam", "y must be a dictionary of labels"),
        ({"subject": object()}, {"spam": 1}, "feature 'subject' is text: expected a text, found <object"),
        ({"subject": "new", "created": "soon"}, {"spam": 1}, "feature 'created' is a date: expected one such as 2024"),
        ({"created": 1e300}, {"spam": 1}, "feature 'created' is a date: expected one such as .* found 1e[+]300"),
        ({"fresh": "a text of many words", "size": "big"}, {"spam": 1}, "feature 'size' is numeric"),
    ],
)
def test_nothing_is_learnt_from_what_is_refused(x, y, said):
    frame, truth = tickets(20)
    model = Marlene(features=KINDS)
    model.learn_many(frame, truth)
    before = contents(model)
    with pytest.raises(MarleneError, match=f"^{said}"):
        model.learn_one(x, y)
    assert contents(model) == before
    model.learn_one({"subject": "new words"}, {"spam": 1})
    assert "subject: new" in model._space.column


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("majority", "prior", "coin", "vw")])
def test_a_learner_of_texts_goes_on_where_its_file_stopped(tmp_path, method):
    frame, truth = tickets(80)
    model = create(method).clone(new_params={"features": {"subject": "text:20"}})
    model.learn_many(frame[:50], truth[:50])
    model.save(tmp_path / "model.npz")
    again = type(model).load(tmp_path / "model.npz")
    for each in (model, again):
        each.learn_many(frame[50:], truth[50:])
    assert contents(again) == contents(model)
    assert again._space.encoded == {"subject": "text:20", "created": "date"}
    assert sum(name.startswith("subject: ") and "#" not in name for name in again._space.column) <= 20


def test_nominal_values_that_look_like_texts_or_names_are_doubted_once():
    model = Marlene()
    model.learn_one({"s": "red"}, {"y": 1})
    with pytest.warns(UserWarning, match=re.escape("features={'s': 'text'} makes features of its words")) as caught:
        model.learn_one({"s": "I want my money back"}, {"y": 0})
    assert caught[0].filename == __file__
    model.learn_one({"s": "and I want it now"}, {"y": 0})
    names = [{"id": f"u{i}"} for i in range(1100)]
    with pytest.warns(UserWarning, match="feature 'id' is nominal and has 1000 different values") as caught:
        model.learn_many(pd.DataFrame(names), pd.DataFrame({"y": np.arange(1100) % 2}))
    assert len(caught) == 1


def test_other_forms_and_units():
    forms = {"a": "date:%d.%m.%Y", "b": "date:ms", "c": "date"}
    model = Marlene(features=forms)
    model.learn_one({"a": "2.1.1970", "b": 86_400_000, "c": "86400"}, {"y": 1})
    x = model._space.rows_of_dicts([{"a": "2.1.1970", "b": "86400000", "c": 86400.0}], learning=False)[0]
    assert x.values[x.indices % 7 == 0].tolist() == [86400.0] * 3
    for kinds, said in [
        ({"a": "texts"}, "features['a'] is 'texts', expected one of numeric, binary, nominal, text, date"),
        ({"a": "text:many"}, "the kind text takes 'pairs' or a number of words"),
        ({"a": "text:0"}, "the number of words must be a whole number from 1"),
        ({"a": 3}, "features['a'] is 3"),
    ]:
        with pytest.raises(MarleneError, match=re.escape(said)):
            Marlene(features=kinds)


def test_a_stream_that_has_a_text_as_nominal_is_refused():
    frame, truth = tickets(20)
    stream = loaded(frame, truth, kinds={"subject": "nominal"})
    with pytest.raises(MarleneError, match="feature 'subject' is nominal in the stream, but text is wanted"):
        Marlene(features=KINDS).declare(stream.features, stream.labels)


def test_sources_have_words_in_common():
    model = Marlene(features={"s": "text"})
    model.learn_one({"s": "late refund"}, {"y": 1}, stream="old")
    model.learn_one({"s": "late again"}, {"y": 1})  # an unknown feature would be a warning, which is an error here
    assert list(model._space.column) == ["s: late", "s: refund", "s: again"]
