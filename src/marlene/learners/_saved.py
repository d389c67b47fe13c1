"""Learners whose state is a JSON header and named arrays: save, load, pickle and copy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from marlene._common.errors import MarleneError
from marlene._common.states import bytes_state, plain, restore_file, save_state, state_bytes
from marlene.learners._block_learner import BlockLearner

if TYPE_CHECKING:
    import os

    from marlene._common.arrays import Array, Arrays

FILE_KIND = "marlene-learner"
FILE_VERSION = 5


class SavedLearner(BlockLearner):
    """A learner whose whole state is a JSON header and named arrays.

    A subclass gives its name in files (`_method`), what it has learnt (`_learnt`) and how to take that over again
    (`_restore`). This class adds the parameters and the features to the header, and makes the learner from them.
    """

    _method: ClassVar[str]
    _objects: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters that may be objects. A copy shares them; a subclass saves and restores them."""

    @abstractmethod
    def _learnt(self) -> tuple[dict[str, Any], Arrays]:
        """Return what was learnt, and the parameters that are objects, as a JSON header and named arrays (copies)."""

    @classmethod
    @abstractmethod
    def _restored_objects(cls, header: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that are objects."""

    @abstractmethod
    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Take over what `_learnt` gave; the features are known already. Any error means a damaged state."""

    def _parameters(self) -> dict[str, Any]:
        """Return all other parameters as JSON can hold them."""
        given = {name: value for name, value in self._get_params().items() if name not in self._objects}
        features = given["features"]
        if not isinstance(features, str):  # names of features need not be texts, as keys of JSON objects must
            given["features"] = list(features.items())
        return {name: _as_json(value) for name, value in given.items()}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return everything, parameters included, as a JSON header and named arrays (copies)."""
        self._refuse_unfinished()
        header, arrays = self._learnt()
        own = {"method": self._method, "parameters": self._parameters(), "space": self._space.header()}
        return header | own, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Return the learner whose `state` this is; it continues exactly where that one stopped."""
        try:
            return cls._from_state(header, arrays)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            if isinstance(error, MarleneError):
                raise
            raise MarleneError(f"not the state of a learner, or damaged: {error}") from error

    @classmethod
    def _from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        if header["method"] != cls._method:
            raise MarleneError(f"the state of method {header['method']!r}, expected {cls._method!r}")
        parameters = dict(header["parameters"])
        if not isinstance(parameters["features"], str):
            parameters["features"] = dict(parameters["features"])
        model = cls(**parameters, **cls._restored_objects(header))
        model._space.restore(header["space"])
        model._restore(header, arrays)
        model._never_false.silent = True
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to a file (npz with a JSON header). A crash leaves the old file or the new one."""
        save_state(path, FILE_KIND, FILE_VERSION, *self.state())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; a foreign or damaged file is an error."""
        return restore_file(path, FILE_KIND, FILE_VERSION, cls.from_state)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle or a copy holds: the state, or copies of all attributes if it holds River objects."""
        with self._lock:
            try:
                header, arrays = self.state()
            except MarleneError:
                return {"attributes": super().__getstate__()}
            return {"state": state_bytes(header, arrays)} | {name: getattr(self, name) for name in self._objects}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore what `__getstate__` gave."""
        if "attributes" in state:
            self.__dict__ = state["attributes"]
            return
        self.__dict__ = type(self).from_state(*bytes_state(state["state"])).__dict__
        for name in self._objects:
            setattr(self, name, state[name])


def _as_json(value: Any) -> Any:  # noqa: ANN401 (any parameter)
    """Return a parameter as JSON can hold it."""
    if isinstance(value, Mapping):
        return {name: _as_json(part) for name, part in value.items()}
    return [_as_json(part) for part in value] if isinstance(value, list | tuple) else plain(value)
