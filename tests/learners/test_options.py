"""Whatever an option is set to, a grid's file may say it: it is taken, or refused in one line."""

import warnings

import pytest

from marlene._common.errors import MarleneError
from marlene.learners import METHODS, create
from tests.fuzz._mutations import VALUES

WRONG = (*VALUES, -1.5, 5, 1e-300, {"false_positive": "x"}, {"*": 5}, [["a", "b"]], [0, [1]], {"": []}, "none", "all")


@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].options])
def test_options_are_taken_or_refused(method):
    refused = []
    for option in METHODS[method].options:
        for value in WRONG:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    model = create(method, **{option: value})
                    model.learn_one({"a": 1.0, "b": "x"}, {"p": True, "q": False})
                    assert set(model.predict_one({"a": 1.0})) == {"p", "q"}
                except MarleneError as error:
                    refused.append(str(error))
    assert len(refused) > len(METHODS[method].options) * 10
    assert all(said and said.isprintable() for said in refused)
