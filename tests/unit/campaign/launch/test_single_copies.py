"""Single copies, tried: on this system as it is, and where it refuses."""

from __future__ import annotations

import ctypes
import errno
import os
from types import SimpleNamespace
from typing import TYPE_CHECKING

from mpigauge.campaign.launch import single_copies
from mpigauge.campaign.launch.process_tree import descendants

if TYPE_CHECKING:
    import pytest


def test_a_trial_has_a_result_and_leaves_no_process() -> None:
    before = descendants(os.getpid())
    answer = single_copies.refusal()
    assert answer is None or isinstance(answer, str)
    assert descendants(os.getpid()) == before


def test_a_refusal_has_the_systems_message(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        """The call under a filter of a container."""

        restype = argtypes = None

        def __call__(self, *_: object) -> int:
            """As the C library does."""
            ctypes.set_errno(errno.ENOSYS)
            return -1

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(process_vm_readv=Refusing()))
    assert single_copies.refusal() == os.strerror(errno.ENOSYS)


def test_without_the_system_call_there_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace())
    assert single_copies.refusal() is None


def test_a_child_that_does_not_start_in_time_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where its interpreter lies on a file system that hangs."""
    monkeypatch.setattr(single_copies, "ANSWER_S", 0.1)
    monkeypatch.setattr(single_copies, "OTHER_PROGRAM", "input()")
    assert single_copies.refusal() is None
