"""Run the measurements: `python -m benchmarks [NAME]… [--quick] [--write] [--against PAGE]`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import arff, compilation, forest, growth, learners, life, live, memory, reading, scaling, singly, vowpal
from benchmarks._record import as_json, compare, record_beside, recorded_tables
from benchmarks._report import README, heading, summary, surroundings

if TYPE_CHECKING:
    from benchmarks._measure import Table

BENCHMARKS = {
    "arff": arff,
    "reading": reading,
    "memory": memory,
    "forest": forest,
    "scaling": scaling,
    "growth": growth,
    "life": life,
    "learners": learners,
    "singly": singly,
    "vowpal": vowpal,
    "live": live,
    "compilation": compilation,
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure CPU time and memory.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(BENCHMARKS)}; all")
    parser.add_argument("--quick", action="store_true", help="fewer examples; the numbers are rough")
    parser.add_argument(
        "--write", action="store_true", help="write README.md and README.json too, or renew parts of them"
    )
    parser.add_argument("--against", type=Path, metavar="PAGE", help="compare with the run recorded beside this page")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    if given.write and given.quick:
        parser.error("--write records what was measured in full: not together with --quick")
    kept = recorded_tables(README) if given.write and given.names else {}
    print(head := heading(), flush=True)
    measured: dict[str, list[Table]] = {}
    for name in given.names or BENCHMARKS:
        measured[name] = []
        for table in BENCHMARKS[name].tables(quick=given.quick):
            measured[name].append(table)
            print(f"\n{table}", flush=True)
    print(f"\n{summary(measured)}")
    if given.against:
        print(f"\n{compare(given.against, measured)}")
    if given.write:
        kept |= measured
        tables = {name: kept[name] for name in BENCHMARKS if name in kept}
        parts = [head, *(str(table) for name in tables for table in tables[name]), summary(tables)]
        README.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        record_beside(README).write_text(as_json(surroundings(), tables), encoding="utf-8")


if __name__ == "__main__":
    main()
