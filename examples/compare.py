"""Compare methods over streams as papers do, with statistics: `python examples/compare.py [FOLDER]`.

What the tests say holds for streams like these: put your own in their place.
"""

import sys
import tempfile

from marlene.experiments import (
    Grid,
    critical_difference_diagram,
    friedman,
    nemenyi_critical_difference,
    run_grid,
    wilcoxon_holm,
)

METHODS = ("majority", "gobr", "marlene")
DRIFTS = ("SS", "AS", "IS", "AA", "IA", "II")


def main(folder: str, size: int = 200) -> str:
    """Run the grid, test, draw; return the best method. The same command continues after a stop."""
    streams = [{"synthetic": drifts, "size": size} for drifts in DRIFTS] + [{"load": "yeast", "limit": 5 * size}]
    store = run_grid(Grid(streams=streams, methods=[{"name": name} for name in METHODS], seeds=1), folder)
    score = {(row["name"], row["method"]): row["macro_gmean"] for row in store.rows()}
    table = [[score[name, method] for method in METHODS] for name in sorted({name for name, _ in score})]
    test = friedman(table)
    print(f"Friedman over {test.count} streams: p = {test.p_value:.4f}; mean ranks", *map("{:.2f}".format, test.ranks))
    for pair in wilcoxon_holm(table):
        print(f"{METHODS[pair.first]} and {METHODS[pair.second]}: p = {pair.corrected:.4f} (Wilcoxon, Holm)")
    difference = nemenyi_critical_difference(len(METHODS), test.count)
    critical_difference_diagram(test.ranks, METHODS, difference, f"{folder}/ranks.png")
    return METHODS[test.ranks.argmin()]


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
