"""The summary that `marlene run` prints: scores, which labels help which, drifts, and what to try next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from marlene.experiments.paper import CLOSEST_SETTINGS
from marlene.learners import METHODS
from marlene.learners._methods import DEFAULT_METHOD

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from rich.console import Console

    from marlene.evaluation import PrequentialResult

    Shares = Mapping[Hashable, Mapping[tuple[str | None, Hashable], float]]
    NamedShares = Mapping[str, Mapping[str, float]]
    Times = Sequence[int] | Mapping[int, tuple[str | None, Hashable] | None]
    """When a label drifted; and, if the learner can tell, from which label of which stream it inherited then."""

SCORE_NAMES = {
    "macro_gmean": "Macro-G-Mean",
    "micro_gmean": "Micro-G-Mean",
    "label_set_gmean": "Label-set-G-Mean",
    "hamming_score": "Hamming score",
}
MOST = 15
NAME_WIDTH = 20
TIMELINE = 50
TIMES = 5
# From the smallest to the largest share, in colours that every terminal has.
SHADES = ("dim", "", "cyan", "black on cyan", "bold black on bright_cyan")


def print_scores(
    console: Console, result: PrequentialResult, total: int | None, heading: str = "", published: Sequence[float] = ()
) -> None:
    """Print the scores, with a column of published ones under `heading` if there are any."""
    if result.stopped:
        of = "" if total is None else f" of {total}"
        console.print(f"stopped after {result.examples}{of} examples; the scores are of those")
    print_plainly(console, f"{result.method} on {result.stream}", style="table.title")
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("score", overflow="fold")
    for text in ("mean over the stream", *([heading] if published else []), "last window"):
        table.add_column(text, justify="right", overflow="fold")
    for place, (key, name) in enumerate(SCORE_NAMES.items()):
        printed = [f"{value:.3f}" for value in published[place : place + 1]] or [""]
        last = f"{result.trace(key)[-1]:.3f}" if len(result.steps) else "-"
        table.add_row(name, f"{result.scores[key]:.3f}", *(printed if published else []), last)
    console.print(table)
    console.print(
        f"{result.examples} examples, {result.features} features, {len(result.labels)} labels; "
        f"window {result.window}, {max(0, result.examples - result.start - 1)} steps scored\n"
        f"{result.models} models, {result.drifts} drifts; learning {result.learn_seconds:.2f} s CPU, "
        f"in all {result.cpu_seconds:.2f} s CPU; peak memory {result.peak_rss_mb:.0f} MB"
    )


def print_insight(console: Console, model: Any, examples: int, sources: Iterable[str] = ()) -> None:  # noqa: ANN401
    """Print which labels help which, when each label drifted, and from whom it inherited."""
    shares, concepts = model.transfer_matrix(), model.concepts()
    inheriting = any(isinstance(times, Mapping) for times in concepts.values())
    if any(share > 0 and giver != (None, label) for label, row in shares.items() for giver, share in row.items()):
        _print_transfer(console, shares)
        if not inheriting:
            models = model.counts()["models"]
            uniform = f"uniform share: {1 / models:.1%} ({models} sub-classifiers; a label has one per concept)"
            print_plainly(console, uniform)
        share = f"{model.aswr():.0%} of the weight for a label is of other labels and streams on average (ASWR)"
        print_plainly(console, share)
    _print_drifts(console, concepts, examples, inheriting)
    for source in dict.fromkeys(sources):
        if inheriting:
            print_plainly(console, _heirs(source, concepts))
            continue
        times = model.concepts(source).values()
        drifts, drifted = sum(map(len, times)), sum(map(bool, times))
        print_plainly(console, f"source {source}: {drifts} drifts, in {drifted} of {len(times)} labels")


def print_next(console: Console, method: str, command: Sequence[str], published: bool) -> None:
    """Print commands worth trying next.

    Parameters
    ----------
    console
        Where to print.
    method, command
        The method that was run, and the command without method and settings.
    published
        Whether the stream is one of the paper's data sets.
    """
    ours = method == DEFAULT_METHOD
    same = [*command] if ours else [*command, "--method", method]
    transferring = [*command, "--method", "br-marlene"]
    tips = [([*command, "--method", "br-resampled"], "the same, without transfer")]
    if ours or method == "br-resampled":
        tips = [(transferring, "the paper's method" if ours else "the same, with transfer")]
    if published:
        other = "slashdot" if command[2].lower() == "yeast" else "yeast"
        tips.append(([*(transferring if ours else same), *CLOSEST_SETTINGS], "like the paper's scores"))
        tips.append((["marlene", "run", other], "another of its data sets"))
    else:
        if method in METHODS and "drift" in METHODS[method].options:
            tips.append(([*same, "--drift", "none"], "the same, without a reaction to drift"))
        else:
            tips.append(([*same, "--set", "transfer=own"], "the same, without transfer"))
        tips.append(([*same, "--checkpoint", "run.npz"], "saves its state; run again, it resumes"))
    console.print("\nwhat to try next")
    width = max(len(shlex.join(words)) for words, _ in tips)
    beside = width + max(len(why) for _, why in tips) + 4 <= console.width
    for words, why in tips:
        line = f"{shlex.join(words):{width}}  {why}" if beside else f"{why}:\n    {shlex.join(words)}"
        print_plainly(console, f"  {line}")


def _print_transfer(console: Console, shares: Shares) -> None:
    """Print the shares of other labels: all of them if they are few or fit a matrix, else the largest."""
    givers = _by_giver(shares)
    helped = {
        label: {giver: share for giver, share in row.items() if share > 0 and giver != label}
        for label, row in givers.items()
    }
    console.print("\nwhich labels help which")
    if sum(len(row) for row in helped.values()) < len(shares):
        print_plainly(console, "labels with votes from other labels, and the share of these, in % of the weight")
        table = _table("", "")
        for label, row in helped.items():
            if row:
                table.add_row(Text(short_name(label)), Text(_largest(row)))
        console.print(table)
        alone = sum(not row for row in helped.values())
        print_plainly(console, f"{alone} of {len(shares)} labels are voted on by their own sub-classifiers alone")
    elif len(shares) <= MOST and len(next(iter(givers.values()))) <= MOST:
        print_plainly(console, "row: the label voted on; column: the label that votes, in % of the weight")
        console.print(_matrix(givers))
    else:
        print_plainly(console, "labels with the largest share in the votes on other labels, in % of the weight")
        console.print(_strongest(givers))


def _by_giver(shares: Shares) -> dict[str, dict[str, float]]:
    """Return the shares by name: one for every target label, and one for every source as a whole."""
    result: dict[str, dict[str, float]] = {}
    for label, row in shares.items():
        sums = {str(other): 0.0 for other in shares}
        for (stream, other), share in row.items():
            giver = str(other) if stream is None else f"source {stream}"
            sums[giver] = sums.get(giver, 0.0) + share
        result[str(label)] = sums
    return result


def _matrix(shares: NamedShares) -> Table:
    number = {name: i + 1 for i, name in enumerate(next(iter(shares.values())))}
    largest = max(share for row in shares.values() for share in row.values())
    table = _table("", *(str(i) if name in shares else short_name(name) for name, i in number.items()), justify="right")
    for label, row in shares.items():
        cells = [_cell(share, largest, own=giver == label) for giver, share in row.items()]
        table.add_row(Text(f"{number[label]:2} {short_name(label)}"), *cells)
    return table


def _cell(share: float, largest: float, own: bool) -> Text:
    level = round((len(SHADES) - 1) * share / largest)
    return Text(f"{100 * share:.0f}" if share > 0 else "-", f"{SHADES[level]} underline" if own else SHADES[level])


def _strongest(shares: NamedShares) -> Table:
    """Return a table of the labels that give most, and to which labels."""
    given = {
        giver: {label: row[giver] for label, row in shares.items() if label != giver}
        for giver in next(iter(shares.values()))
    }
    mean = {giver: sum(row.values()) / max(1, len(row)) for giver, row in given.items()}
    table = _table("label", "mean share", "most for")
    for giver in sorted(mean, key=lambda giver: -mean[giver])[: MOST - 5]:
        row = {label: share for label, share in given[giver].items() if share > 0}
        table.add_row(Text(short_name(giver)), f"{mean[giver]:10.1%}", Text(_largest(row, 3)))
    return table


def _heirs(source: str, concepts: Mapping[Hashable, Any]) -> str:
    heirs = sum(any(giver and giver[0] == source for giver in times.values()) for times in concepts.values())
    return f"source {source}: {heirs} of {len(concepts)} labels inherited from it while they were learnt"


def _print_drifts(console: Console, concepts: Mapping[Hashable, Times], examples: int, inheriting: bool) -> None:
    drifted = {str(label): times for label, times in concepts.items() if times}
    changed = "changed" if inheriting else "drifted"
    if not drifted:
        console.print(f"\nno label {changed}")
        return
    shown = sorted(drifted, key=lambda label: -len(drifted[label]))[:MOST]
    whom = ", and from whom they inherited" if inheriting else ""
    print_plainly(console, f"\nwhen labels {changed}{whom} (of {examples} examples)")
    line, mark = ("·", "▲") if console.encoding.startswith("utf") else (".", "^")
    listed = {label: _some(label, drifted[label]) for label in drifted if label in shown}
    beside = max(len(short_name(label)) for label in listed) + max(len(times) for times in listed.values()) + 6
    width = max(10, min(TIMELINE, console.width - beside))
    table = _table("", "", "", fixed=2)
    for label, times in listed.items():
        places = {min(width - 1, time * width // max(1, examples)) for time in drifted[label]}
        timeline = Text("".join(mark if place in places else line for place in range(width)))
        timeline.highlight_words([mark], "bold red")
        table.add_row(Text(short_name(label)), timeline, Text(times))
    console.print(table)
    if len(drifted) > len(shown):
        print_plainly(console, f"{len(drifted) - len(shown)} more labels {changed} less often")
    if len(concepts) > len(drifted):
        print_plainly(
            console,
            f"{len(concepts) - len(drifted)} of {len(concepts)} labels did not {'change' if inheriting else 'drift'}",
        )


def _some(label: str, times: Times) -> str:
    """Return the first few times, each with whom the label inherited from, if that is known."""
    more = f" and {len(times) - TIMES} more" if len(times) > TIMES else ""
    givers = times if isinstance(times, Mapping) else {}
    said = (f"{time}{_from(label, givers[time]) if time in givers else ''}" for time in list(times)[:TIMES])
    return ", ".join(said) + more


def _from(label: str, giver: tuple[str | None, Hashable] | None) -> str:
    """Return in words from whom a label inherited."""
    if giver is None:
        return " told"
    stream, name = giver
    if stream is not None:
        return f" from {short_name(str(name))} of {short_name(stream)}"
    return " from itself" if str(name) == label else f" from {short_name(str(name))}"


def _largest(row: Mapping[str, float], most: int | None = None) -> str:
    """Return names with their shares, the largest first."""
    ordered = sorted(row.items(), key=lambda item: -item[1])[:most]
    return ", ".join(f"{short_name(name)} {share:.0%}" for name, share in ordered)


def short_name(name: str) -> str:
    """Return a name that fits a table."""
    return name if len(name) <= NAME_WIDTH else name[: NAME_WIDTH - 2] + ".."


def _table(*headings: str, fixed: int = 1, justify: Any = "left") -> Table:  # noqa: ANN401 (one of rich's words)
    """Return a table without lines whose first `fixed` columns do not wrap."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, show_header=any(headings))
    for position, heading in enumerate(headings):
        settings = (
            {"no_wrap": True, "overflow": "crop"} if position < fixed else {"overflow": "fold", "justify": justify}
        )
        table.add_column(Text(heading), **settings)
    return table


def print_plainly(console: Console, text: str, style: str = "") -> None:
    """Print text as it is: without markup in names, and without line breaks in commands and titles."""
    console.print(text, markup=False, highlight=False, soft_wrap=True, style=style)
