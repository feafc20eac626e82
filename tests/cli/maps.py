"""Maps of hosts that let everybody in, and what JSON says of one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.conftest import Cli, Done

HOSTS = "h1,h2,h3,h4,h5,h6"


def mapped(cli: Cli, *words: object, hosts: str = HOSTS) -> Done:
    """A map of hosts that let everybody in."""
    return cli("map", "--hosts", hosts, "--remote-shell", "/bin/true", *words)


def whole(done: Done) -> dict[str, Any]:
    """What JSON says."""
    said: dict[str, Any] = json.loads(done.out)
    return said
