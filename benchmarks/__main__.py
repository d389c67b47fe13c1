"""Run the measurements: `python -m benchmarks [NAME]… [--quick] [--write] [--against PAGE]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import arff, compilation, forest, growth, learners, life, live, memory, reading, scaling, singly, vowpal
from benchmarks._record import as_json, compare, record_beside
from benchmarks._report import README, heading, summary, surroundings

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
    parser.add_argument("--write", action="store_true", help="write benchmarks/README.md and README.json too")
    parser.add_argument("--against", type=Path, metavar="PAGE", help="compare with the run recorded beside this page")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    if given.write and (given.names or given.quick):
        parser.error("--write records a complete run: not together with names or --quick")
    print(text := heading(), flush=True)
    tables = []
    for name in given.names or BENCHMARKS:
        for table in BENCHMARKS[name].tables(quick=given.quick):
            tables.append(table)
            text += f"\n\n{table}"
            print(f"\n{table}", flush=True)
    text += f"\n\n{summary(tables)}\n"
    print(f"\n{summary(tables)}")
    if given.against:
        print(f"\n{compare(given.against, tables)}")
    if given.write:
        README.write_text(text, encoding="utf-8")
        record_beside(README).write_text(as_json(surroundings(), tables), encoding="utf-8")


if __name__ == "__main__":
    main()
