"""Learners that are arrays: how they are saved, loaded, pickled and copied."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from marlene._common.errors import MarleneError
from marlene._common.states import bytes_state, load_state, save_state, state_bytes
from marlene.learners._block_learner import BlockLearner

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays

FILE_KIND = "marlene-learner"
FILE_VERSION = 2


class SavedLearner(BlockLearner):
    """A learner all of which is a JSON header and named arrays."""

    _objects: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters that may be objects: a copy has the same ones."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return everything, parameters included, as a JSON header and named arrays (copies)."""

    @classmethod
    @abstractmethod
    def _from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Return the learner of a state that may be damaged: any error says so."""

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Return the learner whose `state` this is; it goes on to the bit where that one stood."""
        try:
            return cls._from_state(header, arrays)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            if isinstance(error, MarleneError):
                raise
            raise MarleneError(f"not the state of a learner, or damaged: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to a file (npz with a JSON header), whole or not at all."""
        save_state(path, FILE_KIND, FILE_VERSION, *self.state())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; a foreign or damaged file is an error that says so."""
        header, arrays = load_state(path, FILE_KIND, FILE_VERSION)
        try:
            return cls.from_state(header, arrays)
        except MarleneError as error:
            raise MarleneError(f"{path}: {error}") from error

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle or a copy holds: parameters and arrays, or, with River objects in it, those too."""
        try:
            header, arrays = self.state()
        except MarleneError:
            return {"attributes": dict(self.__dict__)}
        return {"state": state_bytes(header, arrays)} | {name: getattr(self, name) for name in self._objects}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore what `__getstate__` gave."""
        if "attributes" in state:
            self.__dict__ = state["attributes"]
            return
        self.__dict__ = type(self).from_state(*bytes_state(state["state"])).__dict__
        for name in self._objects:
            setattr(self, name, state[name])
