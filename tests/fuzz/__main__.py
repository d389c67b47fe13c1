"""`python -m tests.fuzz [TARGET]… [--cases N] [--seed N]`."""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time

from tests.fuzz._run import REFUSED, RIGHT, keep, run
from tests.fuzz._targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Try damaged input.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"what to try: {', '.join(TARGETS)}; default all")
    parser.add_argument("--cases", type=int, default=2000, help="how many of each target")
    parser.add_argument("--seed", type=int, default=1, help="other random numbers give other cases")
    given = parser.parse_args()
    unknown = [name for name in given.targets if name not in TARGETS]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(TARGETS)}")
    faulthandler.enable()
    found = 0
    print(f"{'target':<12}{'cases':>9}{'right':>9}{'refused':>9}{'other':>7}{'CPU s':>8}", flush=True)
    for name in given.targets or TARGETS:
        began = time.process_time()
        report = run(TARGETS[name], given.cases, given.seed)
        seconds, others = time.process_time() - began, len(report.findings)
        right, refused = report.counts[RIGHT], report.counts[REFUSED]
        print(f"{name:<12}{right + refused + others:>9}{right:>9}{refused:>9}{others:>7}{seconds:>8.1f}", flush=True)
        for case, said in report.findings:
            print(f"\n{keep(TARGETS[name], case)}\n{case[:300]!r}\n{said}", file=sys.stderr, flush=True)
        found += others
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
