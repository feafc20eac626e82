"""The chart library that a page carries: one file of a fixed version, which is what its description says."""

from __future__ import annotations

import hashlib
from importlib.resources import files

import msgspec

FOLDER = files("mpigauge.show.report") / "vendor"
DESCRIPTION = "plotly-cartesian.json"


class Library(msgspec.Struct, frozen=True):
    """What is known of it.

    Attributes:
        name: In its registry.
        file: In the folder of this package.
        sha256: Of that file.
    """

    name: str
    version: str
    licence: str
    file: str
    sha256: str


def library() -> Library:
    """The description."""
    return msgspec.json.decode((FOLDER / DESCRIPTION).read_bytes(), type=Library)


def source() -> str:
    """The library itself.

    Raises:
        ValueError: The file is not the one that is described.
    """
    known = library()
    content = (FOLDER / known.file).read_bytes()
    if hashlib.sha256(content).hexdigest() != known.sha256:
        raise ValueError(f"{known.file} is not {known.name} {known.version}")
    return content.decode("utf-8")
