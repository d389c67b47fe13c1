"""The long description of the package: the README, with links that work anywhere. Hatchling calls the class below."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?://|#)([^)\s]+)\)")


def absolute(text: str, source: str, version: str) -> str:
    """Return Markdown whose links to files of the project lead to the released version."""

    def linked(found: re.Match[str]) -> str:
        image, words, path = found.groups()
        return f"{image}{words}({source}/{'raw' if image else 'blob'}/v{version}/{path.rstrip('/')})"

    return LINK.sub(linked, text)


class LongDescription(MetadataHookInterface):
    """What Hatchling calls to complete the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the long description."""
        root = Path(self.root)
        (version,) = re.findall(
            r'^__version__ = "(.+)"$', (root / "src/marlene/__init__.py").read_text("utf-8"), re.MULTILINE
        )
        text = absolute((root / "README.md").read_text("utf-8"), metadata["urls"]["Source"], version)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
