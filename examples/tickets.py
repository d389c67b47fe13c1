"""From a table of old tickets to a live worker: `python examples/tickets.py [FOLDER]`.

1. Predict and learn the tickets of a CSV file, one by one, and write a report: is it good enough?
2. Start a worker, and give it the old tickets as messages that bring their labels. Then messages ask for labels; the
   true ones come later, and are learnt then. `marlene serve` does the same with files, HTTP, Kafka and Redis.

The tickets are made up, so that the program runs anywhere; put a table of your own in their place.
"""

from __future__ import annotations

import csv
import json
import random
import sys
import tempfile
from pathlib import Path

from marlene import Marlene
from marlene.evaluation import prequential
from marlene.live import Record, Worker
from marlene.streams import load

WORDS = {
    "billing": ["invoice", "charged", "twice", "refund", "amount", "card"],
    "login": ["password", "account", "locked", "reset", "sign", "code"],
    "urgent": ["immediately", "today", "customers", "waiting", "down", "asap"],
}
OTHERS = ["hello", "please", "the", "my", "we", "since", "about", "page", "order", "thanks"]


def ticket(random: random.Random) -> tuple[str, set[str]]:
    """Return a subject and its labels."""
    labels = {label for label in WORDS if random.random() < 0.3} or {random.choice(list(WORDS))}
    words = [random.choice(WORDS[label]) for label in sorted(labels) for _ in range(2)]
    words += random.choices(OTHERS, k=5)
    random.shuffle(words)
    return " ".join(words), labels


def send(worker: Worker, message: dict[str, object]) -> dict[str, object]:
    """Give a worker a message; return its first answer, or nothing."""
    outputs = worker.take([Record("tickets", worker.counts["messages"], json.dumps(message).encode())])
    return json.loads(outputs[0].body) if outputs else {}


def main(folder: Path, tickets: int = 600, asked: int = 100) -> dict[str, float]:
    """Write, learn and serve tickets; return how good the answers were."""
    drawn = random.Random(1)
    table = folder / "tickets.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["subject", "tags"])
        writer.writerows((subject, "|".join(sorted(labels))) for subject, labels in map(ticket, [drawn] * tickets))

    stream = load(table, labels="tags", separator="|", kinds={"subject": "text"})
    result = prequential(Marlene(objective="example-f1"), stream)
    result.report(folder / "tickets.html")
    print(f"learnt {result.examples} tickets, F1 {result.cumulative['example_f1']:.2f}; see {folder / 'tickets.html'}")

    worker, right = Worker(Marlene(objective="example-f1", features={"subject": "text"})), 0
    with table.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            tags = row["tags"].split("|")
            send(worker, {"id": f"old {number}", "x": {"subject": row["subject"]}, "y": tags})
    for number in range(asked):
        subject, labels = ticket(drawn)
        answer = send(worker, {"id": number, "x": {"subject": subject}})
        send(worker, {"id": number, "y": sorted(labels)})  # in life this comes later, when somebody has read the ticket
        right += set(answer["labels"]) == labels
    print(f"the worker answered {asked} messages, {right} of them with exactly the true labels")
    return {"f1": result.cumulative["example_f1"], "right": right / asked}


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()))
