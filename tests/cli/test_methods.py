"""`marlene methods`, and what the command says of itself."""

import pytest

import marlene
from marlene.learners import METHODS
from tests.cli.commands import caller

call = pytest.fixture(caller)


def test_every_method_is_listed(call):
    outcome = call("methods")
    assert (outcome.code, outcome.err) == (0, "")
    for method in METHODS.values():
        assert method.name in outcome.out
        assert method.summary.split()[-1] in outcome.out
    assert "river:<dotted.Class>" in outcome.out


def test_unknown_commands(call):
    outcome = call("method")
    assert (outcome.code, outcome.out) == (2, "")
    assert "methods" in outcome.err


def test_the_version(call):
    assert call("--version") == (0, f"marlene {marlene.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["-h"], ["run", "--help"]], ids=" ".join)
def test_help(call, arguments):
    outcome = call(*arguments)
    assert (outcome.code, outcome.err) == (0, "")
    assert "Usage: marlene" in outcome.out


def test_without_arguments_there_is_help(call):
    outcome = call()
    assert "Usage: marlene" in outcome.out + outcome.err
