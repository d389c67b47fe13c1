"""A transport of files for `tests.live.killed`."""

from marlene.live import LineReader, Lines, Outlets


class Few(LineReader):
    """Gives few lines at a time."""

    def poll(self, seconds, most):  # noqa: ARG002 (five)
        if not self.kept:
            found = super().poll(seconds)
            if not found:
                return found
            self.kept = found
        some, self.kept = self.kept[:5], self.kept[5:]
        return some

    kept = ()


def transport(folder):
    paths = dict.fromkeys(("answer", "event"), str(folder / "out.jsonl")) | {"dead": str(folder / "dead.jsonl")}
    return Lines(Few(str(folder / "in.jsonl")), Outlets(paths))
