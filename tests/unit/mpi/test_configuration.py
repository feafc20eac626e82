"""How a library was configured: asked of a program beside its mpicc, bounded, and without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi.configuration import MAX_LETTERS, configuration_of
from mpigauge.result.environment import HIDDEN, command_without_secrets, split_words
from tests.unit.mpi.test_variables import library, script

if TYPE_CHECKING:
    from pathlib import Path

OMPI_INFO = r"""#!/bin/sh
[ "$*" = "--config --parsable" ] || exit 1
echo 'config:user:somebody'
echo "config:cli: 'CC=cc' '--prefix=/opt' '--enable-debug'"
echo 'compiler:c:command:cc'
echo 'option:build:cflags:-O3 -DNDEBUG'
echo 'option:wrapper:cflags:-pthread'
"""
MPICHVERSION = r"""#!/bin/sh
printf 'MPICH Version:      5.0.2\nMPICH configure:    --with-device=ch4:ucx\nMPICH CC:           gcc -O2\n'
"""


def test_open_mpi_says_it(tmp_path: Path) -> None:
    script(tmp_path / "ompi_info", OMPI_INFO)
    assert configuration_of(library(tmp_path, "openmpi")) == {
        "configure": "'CC=cc' '--prefix=/opt' '--enable-debug'",
        "cc": "cc",
        "cflags": "-O3 -DNDEBUG",
    }


def test_mpich_says_it(tmp_path: Path) -> None:
    script(tmp_path / "mpichversion", MPICHVERSION)
    said = configuration_of(library(tmp_path, "mpich"))
    assert said == {"configure": "--with-device=ch4:ucx", "cc": "gcc -O2"}


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho nothing that is known\n", ""])
def test_who_does_not_answer_has_none(tmp_path: Path, text: str) -> None:
    for kind in ("openmpi", "mpich", "intelmpi"):
        if text:
            script(tmp_path / "ompi_info", text)
        assert configuration_of(library(tmp_path, kind)) == {}


def test_the_program_of_another_library_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    script(tmp_path / "elsewhere" / "ompi_info", OMPI_INFO)
    monkeypatch.setenv("PATH", f"{tmp_path / 'elsewhere'}:/usr/bin:/bin")
    assert configuration_of(library(tmp_path / "here", "openmpi")) == {}


def test_no_line_is_longer_than_somebody_would_write(tmp_path: Path) -> None:
    script(tmp_path / "ompi_info", "#!/bin/sh\necho \"config:cli: $(printf 'x%.0s' $(seq 9000))\"\n")
    assert len(configuration_of(library(tmp_path, "openmpi"))["configure"]) == MAX_LETTERS


def test_secrets_are_not_written_down() -> None:
    line = "'--with-token=abc def' CC=cc '--with-proxy=http://me:word@host' http://me:word@host '-O2 -g'"
    said = command_without_secrets(line)
    assert not any(secret in said for secret in ("abc", "def", "word@"))
    assert split_words(said)[0] == f"--with-token={HIDDEN}"
    assert split_words(said)[-1] == "-O2 -g"
    typed = "mpigauge run --env=MY_TOKEN=abc --env MY_KEY=def --env=UCX_TLS=tcp"
    assert not any(secret in command_without_secrets(typed) for secret in ("abc", "def"))
    assert "--env=UCX_TLS=tcp" in command_without_secrets(typed)
    assert command_without_secrets("'cut within quotes CC=cc") != ""
