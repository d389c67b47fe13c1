"""Ways to call the command."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import marlene
from marlene.cli import main

COMMAND = [sys.executable, "-m", "marlene"]


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


def caller(capsys):
    """Return a function that runs the command in this process."""

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        written = capsys.readouterr()
        return Outcome(ended.value.code or 0, written.out, written.err)

    return call


def environment(**variables):
    """Return the variables of a process that prints as an ordinary pipe or terminal makes it."""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return plain | {"PYTHONPATH": str(Path(marlene.__file__).parents[1]), "COLUMNS": "200"} | variables
