"""`marlene demo`."""

from __future__ import annotations

import contextlib
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from marlene.cli._report import print_written
from marlene.cli._run import refuse_unwritable
from marlene.cli._summary import print_plainly, short_name
from marlene.evaluation import prequential
from marlene.evaluation._prequential import load_kernels
from marlene.experiments import paper
from marlene.learners import create
from marlene.learners._methods import DEFAULT_METHOD
from marlene.streams import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from marlene.evaluation import PrequentialResult, Progress
    from marlene.learners import Marlene
    from marlene.streams import Stream

STREAM = "yeast"
WINDOW = 100
PAUSE = 0.25
"""How many seconds a picture stays on a terminal, at least."""
LEAST = 100
"""How many examples there are between two columns of a line, at least."""
LOWEST, HIGHEST = 0.3, 0.85
"""The scores of the lowest and the highest block."""
TOGETHER = "together"
BLOCKS, PLAIN_BLOCKS = "▁▂▃▄▅▆▇█", "12345678"


def demo(
    report: Annotated[Path, typer.Option(help="Where the page with pictures of the run goes.")] = Path(
        "marlene-demo.html"
    ),
) -> None:
    """Show what this is about: labels change places in the middle of a stream, and find their knowledge again."""
    refuse_unwritable("--report", report)
    console = Console()
    stream = load(STREAM)
    model = create(DEFAULT_METHOD)
    load_kernels(model)
    _print_scores(console, prequential(model, stream, method=DEFAULT_METHOD))
    result = _watch(console, stream.rotated())
    result.report(report)
    print_written(report)


def _print_scores(console: Console, result: PrequentialResult) -> None:
    """Print the scores of the first run in a few lines."""
    names = ("Macro", "Micro", "Label-set")
    ours = (result.macro_gmean, result.micro_gmean, result.label_set_gmean)
    cells = zip(names, ours, paper.best(STREAM), strict=True)
    told = ", ".join(f"{name} {mine:.3f} ({best:.3f})" for name, mine, best in cells)
    about = f"{result.examples:,} examples, {result.features} features, {len(result.labels)} labels"
    print_plainly(console, f"{result.method} on {result.stream}: {about}, {result.learn_seconds:.2f} s CPU")
    print_plainly(console, f"G-Means (the best in the paper): {told}\n")


def _watch(console: Console, stream: Stream) -> PrequentialResult:
    """Run over a stream whose labels change places, and show how each label fares."""
    drift = max(time for times in stream.drifts.values() for time in times)
    print_plainly(
        console,
        f"Now each label gets the meaning of the label before it, at example {drift:,} (|). What it needs from then\n"
        f"on, another label has learnt. The G-Mean of each label, over {WINDOW} examples:\n",
    )
    model: Marlene = create(DEFAULT_METHOD)  # type: ignore[assignment]
    with _board(console, model, stream.labels, drift) as show:
        result = prequential(model, stream, method=DEFAULT_METHOD, window=WINDOW, start=-1, callbacks=[show])
    trace = result.trace("micro_gmean")
    lowest = drift + int(trace[drift : drift + 2 * WINDOW].argmin())
    heirs = _heirs(model, drift)
    right = [label for label, giver in heirs.items() if giver == _before(stream.labels, label)]
    low, end = trace[lowest], trace[-1]
    fell = (
        f"The Micro-G-Mean was {trace[drift - 1]:.3f} before the drift, {low:.3f} at example {lowest:,} and {end:.3f}"
    )
    found = f"{len(heirs)} of {len(stream.labels)} labels inherited from another after the drift, {len(right)} of them"
    print_plainly(console, f"\n{fell} at the end.\n{found} from the label whose meaning they got.")
    return result


def _before(labels: tuple[str, ...], label: str) -> str:
    return labels[labels.index(label) - 1]


def _heirs(model: Marlene, drift: int) -> dict[str, str]:
    """Return for the labels that inherited from another one after the drift: from which one first."""
    found: dict[str, str] = {}
    for label, times in model.concepts().items():
        for when, giver in times.items():
            if when >= drift and giver is not None and giver != (None, label):
                found.setdefault(str(label), str(giver[1]))
    return found


@contextlib.contextmanager
def _board(
    console: Console, model: Marlene, labels: tuple[str, ...], drift: int
) -> Iterator[Callable[[Progress], None]]:
    """Show a line per label: live on a terminal, elsewhere once at the end."""
    lines: dict[str, list[float]] = {name: [] for name in (*labels, TOGETHER)}
    at: list[int] = []

    def note(progress: Progress) -> None:
        if progress.done < (at[-1] if at else 0) + LEAST and progress.done != progress.total:
            return
        at.append(progress.done)
        scores = (*progress.labels, progress.current.get("micro_gmean", math.nan))
        for line, score in zip(lines.values(), scores, strict=True):
            line.append(score)

    def drawn() -> Text:
        marks = BLOCKS if console.encoding.startswith("utf") else PLAIN_BLOCKS
        before = sum(done <= drift for done in at)
        givers = _heirs(model, drift)
        width = max(len(short_name(name)) for name in lines)
        text = Text()
        for label, line in lines.items():
            row = "".join(_mark(value, marks) for value in line)
            text.append(f"{short_name(label):{width}}  ").append(row[:before], "cyan")
            if len(row) > before:
                text.append("|", "bold red").append(row[before:], "cyan")
            text.append(f"  {line[-1]:.2f}" if line and not math.isnan(line[-1]) else "     -")
            text.append(f"  from {short_name(givers[label])}\n" if label in givers else "\n", "green")
        return text

    if not console.is_terminal:
        yield note
        console.print(drawn(), end="")
        return
    with Live(console=console, auto_refresh=False) as live:

        def show(progress: Progress) -> None:
            before = len(at)
            note(progress)
            if len(at) > before:
                live.update(drawn(), refresh=True)
                time.sleep(PAUSE)

        yield show


def _level(value: float, levels: int) -> int:
    return min(levels - 1, max(0, int(levels * (value - LOWEST) / (HIGHEST - LOWEST))))


def _mark(value: float, marks: str) -> str:
    return " " if math.isnan(value) else marks[_level(value, len(marks))]
