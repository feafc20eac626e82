"""Feeds mpigauge with wrong inputs: `python -m tests.fuzz --count 1000 --seed 1 result`.

With atheris, where that is installed, inputs follow what they reach in the code (--guided). Every outcome
that must not be is printed once, with the seed of its input; `--only SEED` runs that one again.
"""

from __future__ import annotations

import argparse
import atexit
import resource
import signal
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fuzz.border import Border

MAX_SECONDS = 60
MEMORY_MOST_BYTES = 5 << 30


class Drawn(Random):
    """Chance that somebody else has thrown: bytes, and after them what follows from them."""

    def __init__(self, thrown: bytes) -> None:
        super().__init__(thrown)
        self._thrown = iter(thrown)

    def getrandbits(self, k: int, /) -> int:
        """The next bytes; a change of one byte is a change of one choice."""
        drawn = [byte for _, byte in zip(range(-(-k // 8)), self._thrown, strict=False)]
        if len(drawn) * 8 < k:
            return super().getrandbits(k)
        return int.from_bytes(drawn) & ((1 << k) - 1)

    def random(self) -> float:
        """Of 16 bits, which is fine enough for a choice."""
        return self.getrandbits(16) / (1 << 16)


def guided(found: Found, seed: int, count: int) -> None:
    """Inputs whose choices libFuzzer throws, by the lines of mpigauge that earlier ones have reached."""
    import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]  # noqa: PLC0415

    def one(thrown: bytes) -> None:
        found.feed(f"(thrown {thrown.hex()})", Drawn(thrown))

    atheris.Setup(
        ["fuzz", f"-runs={count}", f"-seed={seed}", "-max_len=400", "-len_control=0", "-rss_limit_mb=0"], one
    )
    atexit.register(lambda: print(found.summary(), flush=True))
    atheris.Fuzz()


def _watch_imports() -> None:
    """Until the end: verbs import what they use when they are called."""
    import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]  # noqa: PLC0415

    atheris.instrument_imports(include=["mpigauge"]).__enter__()


class TooLongError(BaseException):
    """An input that keeps the program busy."""


def main() -> None:
    """The command line."""
    asked = _asked()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MOST_BYTES, MEMORY_MOST_BYTES))
    signal.signal(signal.SIGALRM, _too_long)
    if asked.guided:
        _watch_imports()
    from tests.fuzz import foreign  # noqa: PLC0415
    from tests.fuzz.border import closed  # noqa: PLC0415 - after who watches imports
    from tests.fuzz.kinds import KINDS  # noqa: PLC0415

    if asked.file is not None:
        foreign.samples(asked.file)
        foreign.ONLY[:] = [asked.file]
    with tempfile.TemporaryDirectory() as folder, closed(Path(folder) / "m") as border:
        for kind in asked.kinds or KINDS:
            found = Found(kind, border, verbose=asked.only is not None)
            if asked.guided:
                guided(found, asked.seed, asked.count)
            numbers = range(asked.seed, asked.seed + asked.count) if asked.only is None else [asked.only]
            for number in numbers:
                found.feed(str(number), Random(number))
            print(found.summary(), flush=True)


def _asked() -> Any:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kinds", nargs="*", help="kinds of input [all]")
    parser.add_argument("--count", type=int, default=1000, help="inputs of each kind")
    parser.add_argument("--seed", type=int, default=1, help="of the first of them")
    parser.add_argument("--only", type=int, help="the one of this seed")
    parser.add_argument("--file", help="of text and printed: made of this file of tests/data alone")
    parser.add_argument(
        "--guided", action="store_true", help="one kind, by what its inputs reach: needs atheris"
    )
    return parser.parse_args()


def _too_long(*_: Any) -> None:
    raise TooLongError


class Found:
    """What came of the inputs of one kind."""

    def __init__(self, kind: str, border: Border, *, verbose: bool = False) -> None:
        from tests.fuzz.kinds import KINDS  # noqa: PLC0415 - likewise

        self._kind, self._make, self._border, self._verbose = kind, KINDS[kind], border, verbose
        self._seen: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()
        self._begun = time.monotonic()
        self._worst_s = 0.0

    def feed(self, name: str, chance: Random) -> None:
        """One input, and what makes it again."""
        begun = time.monotonic()
        wrong, told = self._outcome(chance)
        self._worst_s = max(self._worst_s, time.monotonic() - begun)
        if not wrong:
            return
        self._seen[wrong] += 1
        if self._seen[wrong] == 1:
            print(f"--- {self._kind} --only {name}: {wrong}\n{told}", flush=True)

    def _outcome(self, chance: Random) -> tuple[str, str]:
        signal.alarm(MAX_SECONDS)
        try:
            trial = self._make(chance, self._border)
        except (Exception, TooLongError) as error:  # noqa: BLE001 - whatever it is, it is a finding
            return _place(error), "".join(traceback.format_exception(error)[-14:])
        finally:
            signal.alarm(0)
        self._statuses[trial.done.status] += 1
        if self._verbose:
            print(trial.words, trial.done.status, trial.done.err, trial.done.out[:2000])
        return trial.wrong.partition(" in (")[0], f"{trial.words}\n{trial.wrong}\n{trial.done.err[-500:]}"

    def summary(self) -> str:
        """In a line."""
        seconds = time.monotonic() - self._begun
        statuses = ", ".join(f"{status}: {count}" for status, count in sorted(self._statuses.items()))
        memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        return (
            f"{self._kind}: statuses {statuses}; findings {dict(self._seen)}; {seconds:.0f} s, "
            f"the longest {self._worst_s:.1f} s; memory up to {memory_mib} MiB"
        )


def _place(error: BaseException) -> str:
    """The kind of an exception and where in mpigauge it was raised: one finding for many inputs."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/mpigauge/" in frame.filename]
    where = frames[-1] if frames else None
    return f"{type(error).__name__} {Path(where.filename).name}:{where.lineno}" if where else repr(error)[:80]


if __name__ == "__main__":
    main()
