"""A run that is killed again and again: `python -m tests.evaluation.killed FOLDER HOW`.

It leaves in the folder the result of the child that was let live to the end, and how many were killed. Children
are forked, so that kernels are loaded once.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from marlene._common import files
from marlene.evaluation import prequential
from marlene.learners import BRMarlene
from marlene.streams import load

KILLS = 8
EVERY = 10


def model():
    return BRMarlene(seed=3)


def stream():
    return load("yeast", limit=400)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def die_while_writing(number):
    """Let this process die in its second write, at one of its steps."""
    step = ("sync", "chmod", "replace", "replaced")[number % 4]
    seen = {"sync": 0, "chmod": 0, "replace": 0}
    sync, chmod, replace = os.fsync, Path.chmod, Path.replace

    def counted(name, original):
        def call(*arguments):
            seen[name] += 1
            if seen[name] == 2 and step == name:
                die()
            done = original(*arguments)
            if seen[name] == 2 and step == f"{name}d":
                die()
            return done

        return call

    files.os.fsync = counted("sync", sync)
    Path.chmod = counted("chmod", chmod)
    Path.replace = counted("replace", replace)


def run(folder):
    result = prequential(model(), stream(), checkpoint=folder / "run.npz", every=EVERY)
    result.save(folder / "result")


def main(folder, how):
    prequential(model(), stream())
    rng = random.Random(how)
    killed = 0
    while True:
        in_write = how == "writing" and killed < KILLS
        pid = os.fork()
        if pid == 0:
            if in_write:
                die_while_writing(killed)
            run(folder)
            os._exit(0)
        if how == "anywhere" and killed < KILLS:
            time.sleep(rng.uniform(0, 0.25))
            os.kill(pid, signal.SIGKILL)
        if os.waitpid(pid, 0)[1] == 0:
            break
        killed += 1
    (folder / "killed.txt").write_text(str(killed))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
