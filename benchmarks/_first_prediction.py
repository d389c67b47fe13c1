"""Learn and predict one example; print as JSON what that took. Run as a program by `compilation`."""

from __future__ import annotations

import json
import time

from marlene import Marlene

imported = time.process_time()

from numba.core import event  # noqa: E402 (the clock of the import comes first)


class Kernels(event.Listener):  # type: ignore[misc]
    """The time that each kernel took to compile, with all its parts."""

    def __init__(self) -> None:
        self.depth, self.seconds = 0, dict[str, float]()

    def on_start(self, _event: event.Event) -> None:
        if self.depth == 0:
            self.start = time.process_time()
        self.depth += 1

    def on_end(self, found: event.Event) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.seconds[found.data["dispatcher"].py_func.__name__] = time.process_time() - self.start


def main() -> None:
    kernels = Kernels()
    with event.install_listener("numba:compile", kernels):
        model = Marlene()
        model.learn_one({"a": 1.0, "b": 2.0}, {"p": True, "q": False})
        model.predict_one({"a": 1.0, "b": 2.0})
    print(json.dumps({"import": imported, "all": time.process_time(), "kernels": kernels.seconds}))


if __name__ == "__main__":
    main()
