"""The chart library that a page carries: one file of a fixed version, which is what its description says."""

from __future__ import annotations

import hashlib
from importlib.resources import files

import msgspec

from mpigauge.errors import EnvironmentLacksError

FOLDER = files("mpigauge.show.report") / "vendor"
DESCRIPTION = "plotly-cartesian.json"
PACKED = ".xz"
"""As it is kept, since it is a third of what an installation fetches."""


class Library(msgspec.Struct, frozen=True):
    """What is known of it.

    Attributes:
        name: In its registry.
        file: In its package there; ours has it packed.
        sha256: Of that file, unpacked.
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
        EnvironmentLacksError: This Python cannot unpack it.
        ValueError: The file is not the one that is described.
    """
    known = library()
    content = _unpacked((FOLDER / f"{known.file}{PACKED}").read_bytes())
    if hashlib.sha256(content).hexdigest() != known.sha256:
        raise ValueError(f"{known.file} is not {known.name} {known.version}")
    return content.decode("utf-8")


def _unpacked(packed: bytes) -> bytes:
    try:
        import lzma  # noqa: PLC0415 - a Python that was built without liblzma has everything else
    except ImportError as error:
        raise EnvironmentLacksError(
            "this Python has no module lzma, which the charts of a report are packed with",
            "use a Python of the system or of uv, or build this one anew where liblzma's headers are",
        ) from error
    return lzma.decompress(packed)
