"""`python -m tests.versions [--all]`: write the files of this version that are missing, or all of them anew."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import warnings
from pathlib import Path

from tests.versions._files import CURRENT, EXPECTED, FOLDER, formats, read_copy


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.versions", description="Write files as this version does.")
    parser.add_argument("--all", action="store_true", help="write all anew, not only what is missing")
    given = parser.parse_args()
    folder = FOLDER / CURRENT
    if given.all:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    told = folder / EXPECTED
    expected = json.loads(told.read_text(encoding="utf-8")) if told.exists() else {}
    for form in formats():
        path = folder / form.name
        if path.exists():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            form.write(path)
        with tempfile.TemporaryDirectory() as scratch:
            expected[form.name] = read_copy(form, path, Path(scratch))
        told.write_text(json.dumps(expected, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        print(path.relative_to(FOLDER), flush=True)


if __name__ == "__main__":
    main()
