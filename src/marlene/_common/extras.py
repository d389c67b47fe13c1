"""Optional packages, imported only when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from marlene._common.errors import MissingExtraError


def optional(module: str, extra: str, purpose: str) -> Any:  # noqa: ANN401 (a module of unknown shape)
    """Import `module`, or say which extra of marlene brings it.

    Examples
    --------
    >>> optional("json", "experiments", "writing JSON").dumps([1])
    '[1]'
    >>> optional("no_such_module", "experiments", "reading Parquet")
    Traceback (most recent call last):
        ...
    marlene._common.errors.MissingExtraError: reading Parquet needs the package no_such_module: pip install "marlene[experiments]"
    """  # noqa: E501 (a doctest shows the message on one line)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f'{purpose} needs the package {module}: pip install "marlene[{extra}]"') from error
