"""Support tickets with everything people have: an identifier, texts, dates, categories, gaps, nested fields, lists."""

import csv
import datetime as dt
import json

import numpy as np

WORDS = (
    "refund",
    "Order",
    "late",
    "cannot",
    "log-in",
    "über",
    "naïve",
    "please",
    "my",
    "invoice",
    "'quoted'",
    "a|b",
    "😀",
)
TAGS = ("billing", "bug", "late delivery", "other")
CHOICES = {
    "labels": "tags",
    "drop": "id",
    "kinds": {"subject": "text:pairs", "created": "date", "who.team": "nominal"},
}
SEPARATOR = "|"


def tickets(rows=300, seed=1):
    """Return records of plain Python values."""
    rng = np.random.default_rng(seed)
    start = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    records = []
    for i in range(rows):
        absent = rng.random(5) < 0.1
        created = start + dt.timedelta(seconds=int(rng.integers(10**8)))
        records.append(
            {
                "id": f"t{i}",
                "subject": None if absent[0] else " ".join(rng.choice(WORDS, rng.integers(1, 9))) + "?",
                "created": None if absent[1] else created.replace(tzinfo=None),
                "size": None if absent[2] else float(rng.normal() * 10.0 ** rng.integers(-5, 15)),
                "count": int(rng.integers(5)),
                "vip": None if absent[3] else bool(rng.random() < 0.5),
                "who": {
                    "age": int(rng.integers(18, 90)),
                    "team": None if absent[4] else str(rng.choice(["a", "b", "7"])),
                },
                "tags": sorted(rng.choice(TAGS, rng.integers(0, 4), replace=False).tolist()),
            }
        )
    return records


def write_csv(path, records):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "subject", "created", "size", "count", "vip", "who.age", "who.team", "tags"])
        for r in records:
            cells = [r["id"], r["subject"], r["created"], r["size"], r["count"], r["vip"], *r["who"].values()]
            writer.writerow(["" if cell is None else cell for cell in cells] + [SEPARATOR.join(r["tags"])])


def write_jsonl(path, records):
    lines = (json.dumps(record, default=str, ensure_ascii=i % 2 == 0) for i, record in enumerate(records))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_json(path, records):
    path.write_text(json.dumps(records, default=str, indent=1), encoding="utf-8")
