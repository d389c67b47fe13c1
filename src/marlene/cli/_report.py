"""What `marlene run` shows a person: figures, which labels help which, drifts, and what to try next."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from marlene.experiments.paper import CLOSEST_SETTINGS
from marlene.learners._methods import DEFAULT_METHOD

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from rich.console import Console

    from marlene.evaluation import PrequentialResult

    Shares = Mapping[Hashable, Mapping[tuple[str | None, Hashable], float]]

FIGURES = {
    "macro_gmean": "Macro-G-Mean",
    "micro_gmean": "Micro-G-Mean",
    "label_set_gmean": "Label-set-G-Mean",
    "hamming_score": "Hamming score",
}
MOST = 15
NAME_WIDTH = 20
TIMELINE = 50
TIMES = 5
# From the faintest to the strongest share, in colours that every terminal has.
SHADES = ("dim", "", "cyan", "black on cyan", "bold black on bright_cyan")


def print_figures(
    console: Console, result: PrequentialResult, total: int, heading: str = "", published: Sequence[float] = ()
) -> None:
    """Print the figures, beside published ones, under their heading, where there are any."""
    if result.stopped:
        console.print(f"stopped after {result.examples} of {total} examples; the figures are of those")
    print_plainly(console, f"{result.method} on {result.stream}", style="table.title")
    table = Table(box=box.SIMPLE_HEAD)
    headings = ["mean over the stream", *([heading] if published else []), "last window"]
    table.add_column("figure", overflow="fold")
    for text in headings:
        table.add_column(text, justify="right", overflow="fold")
    printed = [*(f"{figure:.3f}" for figure in published), *[""] * len(FIGURES)]
    for (key, name), paper in zip(FIGURES.items(), printed, strict=False):
        last = f"{result.trace(key)[-1]:.3f}" if len(result.steps) else "-"
        table.add_row(name, f"{result.figures[key]:.3f}", *([paper] if published else []), last)
    console.print(table)
    console.print(
        f"{result.examples} examples, {result.features} features, {len(result.labels)} labels; "
        f"window {result.window}, {len(result.steps)} steps scored\n"
        f"{result.models} models, {result.drifts} drifts; learning {result.learn_seconds:.2f} s CPU, "
        f"in all {result.cpu_seconds:.2f} s CPU; peak memory {result.peak_rss_mb:.0f} MB"
    )


def print_insight(console: Console, model: Any, examples: int, sources: Iterable[str] = ()) -> None:  # noqa: ANN401
    """Print which labels help which and when each drifted, if the learner can tell."""
    if not hasattr(model, "transfer_matrix") or not hasattr(model, "concepts"):
        return
    shares = model.transfer_matrix()
    if any(share > 0 and giver != (None, label) for label, row in shares.items() for giver, share in row.items()):
        _print_transfer(console, shares)
        print_plainly(
            console,
            f"with all {model.counts()['models']} sub-classifiers alike, each would have "
            f"{1 / model.counts()['models']:.1%}; a label has one for each of its concepts\n"
            f"on average {model.aswr():.0%} of the weight on a label is of other labels and streams (ASWR)",
        )
    _print_drifts(console, model.concepts(), examples)
    for source in dict.fromkeys(sources):
        times = model.concepts(source)
        drifts = sum(len(of_label) for of_label in times.values())
        drifted = sum(bool(of_label) for of_label in times.values())
        print_plainly(console, f"source {source}: {drifts} drifts, in {drifted} of {len(times)} labels")


def print_next(console: Console, method: str, command: Sequence[str], published: bool) -> None:
    """Print commands worth trying next.

    Parameters
    ----------
    console
        Where to.
    method, command
        What was run: the method, and the command without method and settings.
    published
        Whether it ran one of the paper's data sets.
    """
    stream = command[2]
    other = "slashdot" if stream.lower() == "yeast" else "yeast"
    ours = method == DEFAULT_METHOD
    same = [*command] if ours else [*command, "--method", method]
    transferring = [*command, "--method", "br-marlene"]
    if ours:
        tips = [(transferring, "the paper's method")]
    elif method == "br-resampled":
        tips = [(transferring, "the same, with transfer")]
    else:
        tips = [([*command, "--method", "br-resampled"], "the same, without transfer")]
    if published:
        closest = transferring if ours else same
        tips.append(([*closest, *CLOSEST_SETTINGS], "like the paper's figures"))
        tips.append((["marlene", "run", other], "another of its data sets"))
    else:
        tips.append(([*same, "--drift", "none"], "the same, without a reaction to drift"))
        tips.append(([*same, "--checkpoint", "run.npz"], "keeps its state; stopped and run again, it goes on"))
    console.print("\nwhat to try next")
    width = max(len(shlex.join(words)) for words, _ in tips)
    beside = width + max(len(why) for _, why in tips) + 4 <= console.width
    for words, why in tips:
        line = f"{shlex.join(words):{width}}  {why}" if beside else f"{why}:\n    {shlex.join(words)}"
        print_plainly(console, f"  {line}")


def _print_transfer(console: Console, shares: Shares) -> None:
    givers = _with_sources_as_one(shares)
    helped = {
        label: {giver: share for giver, share in row.items() if share > 0 and giver != label}
        for label, row in givers.items()
    }
    console.print("\nwhich labels help which")
    if sum(len(row) for row in helped.values()) < len(shares):
        print_plainly(console, "what was learnt of other labels carries part of the vote on these, in % of the weight")
        console.print(_few(helped))
        alone = sum(not row for row in helped.values())
        print_plainly(console, f"{alone} of {len(shares)} labels are voted on by their own sub-classifiers alone")
    elif len(shares) <= MOST and len(next(iter(givers.values()))) <= MOST:
        print_plainly(
            console, "row: a label; column: what was learnt of which label carries the vote on it, in % of the weight"
        )
        console.print(_matrix(givers))
    else:
        print_plainly(
            console, "what was learnt of these labels carries most of the votes on other labels, in % of the weight"
        )
        console.print(_strongest(givers))


def _with_sources_as_one(shares: Shares) -> dict[str, dict[str, float]]:
    """Return the shares by name: of every target label, and of every source as a whole."""
    result: dict[str, dict[str, float]] = {}
    for label, row in shares.items():
        sums = {str(other): 0.0 for other in shares}
        for (stream, other), share in row.items():
            giver = str(other) if stream is None else f"source {stream}"
            sums[giver] = sums.get(giver, 0.0) + share
        result[str(label)] = sums
    return result


def _few(helped: Mapping[str, Mapping[str, float]]) -> Table:
    """Return a table of the labels that are helped, and by whom."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, overflow="crop")
    table.add_column(overflow="fold")
    for label, row in helped.items():
        if row:
            best = sorted(row.items(), key=lambda item: -item[1])
            table.add_row(Text(_short(label)), Text(", ".join(f"{_short(name)} {share:.0%}" for name, share in best)))
    return table


def _matrix(shares: Mapping[str, Mapping[str, float]]) -> Table:
    number = {name: i + 1 for i, name in enumerate(next(iter(shares.values())))}
    largest = max(share for row in shares.values() for share in row.values())
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("", no_wrap=True, overflow="crop")
    for name, i in number.items():
        table.add_column(Text(str(i) if name in shares else _short(name)), justify="right", overflow="fold")
    for label, row in shares.items():
        cells = [_cell(share, largest, own=giver == label) for giver, share in row.items()]
        table.add_row(Text(f"{number[label]:2} {_short(label)}"), *cells)
    return table


def _cell(share: float, largest: float, own: bool) -> Text:
    level = round((len(SHADES) - 1) * share / largest)
    return Text(f"{100 * share:.0f}" if share > 0 else "-", f"{SHADES[level]} underline" if own else SHADES[level])


def _strongest(shares: Mapping[str, Mapping[str, float]]) -> Table:
    """Return a table of those who give most, and to whom."""
    given = {
        giver: {label: row[giver] for label, row in shares.items() if label != giver}
        for giver in next(iter(shares.values()))
    }
    mean = {giver: sum(row.values()) / max(1, len(row)) for giver, row in given.items()}
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("label", no_wrap=True, overflow="crop")
    table.add_column("mean share", justify="right", overflow="fold")
    table.add_column("most for", overflow="fold")
    for giver in sorted(mean, key=lambda giver: -mean[giver])[: MOST - 5]:
        best = sorted(given[giver].items(), key=lambda item: -item[1])[:3]
        most_for = ", ".join(f"{_short(label)} {share:.0%}" for label, share in best if share > 0)
        table.add_row(Text(_short(giver)), f"{mean[giver]:.1%}", Text(most_for))
    return table


def _print_drifts(console: Console, concepts: Mapping[Hashable, Sequence[int]], examples: int) -> None:
    drifted = {str(label): times for label, times in concepts.items() if times}
    if not drifted:
        console.print("\nno label drifted")
        return
    shown = sorted(drifted, key=lambda label: -len(drifted[label]))[:MOST]
    print_plainly(console, f"\nwhen labels drifted (of {examples} examples)")
    line, mark = ("·", "▲") if console.encoding.startswith("utf") else (".", "^")
    listed = {label: _some(drifted[label]) for label in drifted if label in shown}
    beside = max(len(_short(label)) for label in listed) + max(len(times) for times in listed.values()) + 6
    width = max(10, min(TIMELINE, console.width - beside))
    table = Table(box=None, padding=(0, 1), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, overflow="crop")
    table.add_column(no_wrap=True, overflow="crop")
    table.add_column(overflow="fold")
    for label, times in listed.items():
        places = {min(width - 1, time * width // max(1, examples)) for time in drifted[label]}
        timeline = Text("".join(mark if place in places else line for place in range(width)))
        timeline.highlight_words([mark], "bold red")
        table.add_row(Text(_short(label)), timeline, times)
    console.print(table)
    rest = len(concepts) - len(drifted)
    if len(drifted) > len(shown):
        print_plainly(console, f"{len(drifted) - len(shown)} more labels drifted less often")
    if rest:
        print_plainly(console, f"{rest} of {len(concepts)} labels did not drift")


def _some(times: Sequence[int]) -> str:
    more = f" and {len(times) - TIMES} more" if len(times) > TIMES else ""
    return ", ".join(str(time) for time in times[:TIMES]) + more


def _short(name: str) -> str:
    return name if len(name) <= NAME_WIDTH else name[: NAME_WIDTH - 2] + ".."


def print_plainly(console: Console, text: str, style: str | None = None) -> None:
    """Print text as it is: names are not markup, and commands and paths are not to be broken into lines."""
    console.print(text, markup=False, highlight=False, style=style, soft_wrap=True)
