"""What a build adds: examples, schema and manual to the wheel, and a README for those who have no tree.

Needs click beside hatchling, since manual pages are made of the commands themselves.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:)([^)]*)\)")
"""An image or a link of Markdown that leads to a file of the tree."""


class Extras(BuildHookInterface[Any]):
    """Puts into a wheel what a checkout has beside `src`; an editable install uses the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the files are gathered."""
        if version == "editable" or self.target_name != "wheel":
            return
        root = Path(self.root)
        beside = [*(root / "docs").glob("*schema*.json"), root / "CITATION.cff", root / "examples"]
        build_data["force_include"] |= {str(path): f"mpigauge/{path.name}" for path in sorted(beside)}
        self._folder = tempfile.TemporaryDirectory()
        build_data["shared_data"] |= _written(Path(self._folder.name), _shared(root))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """The pages are in the wheel now."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def _shared(root: Path) -> dict[str, str]:
    """Manual pages and what shells complete by: texts, by their place in a prefix."""
    sys.path.insert(0, str(root / "src"))
    from mpigauge.cli import mpigauge  # noqa: PLC0415 - it is not on the path before
    from mpigauge.cli.verbs import completion, manual  # noqa: PLC0415 - it is not on the path before

    pages = {f"share/man/man1/{name}": text for name, text in manual.pages(mpigauge).items()}
    scripts = {place: completion.script(shell, mpigauge) for shell, place in completion.PLACES.items()}
    return pages | scripts


def _written(folder: Path, texts: dict[str, str]) -> dict[str, str]:
    """Files with these texts, as the build wants them: the place of each by its path."""
    for place, text in texts.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")
    return {str(folder / place): place for place in texts}


class Readme(MetadataHookInterface):
    """The README as an index shows it, where the files that it links to are not."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Relative links lead into the repository if its address is known, else they are words."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        address = metadata.get("urls", {}).get("Repository", "")
        metadata["readme"] = {"content-type": "text/markdown", "text": elsewhere(text, address)}


def elsewhere(text: str, address: str) -> str:
    """A page whose links hold wherever it is read."""

    def link(found: re.Match[str]) -> str:
        image, words, target = found.groups()
        if address:
            return f"{image}[{words}]({address}/{'raw' if image else 'blob'}/HEAD/{target})"
        return f"*{words}*" if image else words

    return LINK.sub(link, text)
