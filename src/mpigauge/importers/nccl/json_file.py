"""JSON file that option -J of nccl-tests writes.

Source: src/util.cu of nccl-tests 2.17 to 2.19, versions 1 to 3; each adds to the one before it.
Numbers have six digits behind the point; a result proves its unit by its rate, as a row of the table does.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.errors import UsageError
from mpigauge.importers.nccl.job import Proof, blocks_of, collective
from mpigauge.importers.nccl.operation import PLACES, Operation
from mpigauge.importers.text import LineError, TextLine, content_of, decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.importers.collector import Collector

FILE_BEGINNING = re.compile(r'\{"version":[0-9]+,"start_time":|\s*"nccl_version":')
"""Beginning of a line of the file, as written or as laid out by another program."""

HINT = "nccl-tests -J writes size, time (us) and alg_bw (GB/s)"
MAX_NUMBER = 1e15


class _Result(TextLine):
    """Result of the file, by its number."""

    __slots__ = ()

    @property
    def where(self) -> str:
        """File and result, for people."""
        return f"{self.file}: result {self.number}"


def read_json(line: TextLine, collector: Collector) -> None:
    """Take the numbers of a file.

    Args:
        line: Any line of the file.

    Raises:
        UsageError: It is no such file, or none of its results is understood.
    """
    whole = _loaded(line.file)
    version = whole.get("version")
    if not isinstance(version, int) or version < 1:
        raise UsageError(f"{line.file}: is not JSON of nccl-tests: it has no version", HINT)
    results = [_dict(result) for result in _list(whole.get("results"))]
    args = [result for result in _list(whole.get("args")) if isinstance(result, str)]
    collector.begin_table("nccl-tests", line, command=_command(args))
    proof = _proof(results)
    config = _dict(whole.get("config"))
    name = collective("".join(args[:1]) or _experiment(results), "", collector.file_name, proof)
    ranks, mode_words, before = (
        _ranks(config, proof.ranks(name), collector.ranks),
        _mode_words(config),
        collector.count,
    )
    errors, seen, last = list[LineError](), set[str](), ""
    for number, result in enumerate(results, start=1):
        key = str([result.get(name) for name in ("size", "type", "redop", "root")])
        if key in seen:
            if key == last and config.get("minimum_bytes") != config.get("maximum_bytes"):
                continue  # size steps of less than one block per rank
            collector.begin_table("nccl-tests", line)  # the next cycle of option -N
            seen.clear()
        seen.add(key)
        last = key
        try:
            _take(collector, _Result(line.file, number, ""), result, name, ranks, mode_words)
        except LineError as error:
            errors.append(error)
    if errors and collector.count == before:
        raise errors[0]
    for one_error in errors:
        collector.add_unread(one_error)


def _loaded(file: str) -> dict[str, Any]:
    try:
        whole = json.loads(decoded(content_of(Path(file))))
    except (ValueError, RecursionError):
        raise UsageError(f"{file}: is not JSON", "nccl-tests -J writes it") from None
    return _dict(whole)


def _command(args: Sequence[str]) -> str:
    """Return the command line without the name of the JSON file, which differs between equal runs."""
    kept = [word for before, word in zip(["", *args], args, strict=False) if "-J" not in {before, word}]
    return " ".join(" ".join(kept).split())


def _take(
    collector: Collector,
    line: TextLine,
    result: dict[str, Any],
    name: str,
    ranks: int,
    mode_words: Sequence[str],
) -> None:
    """Take the times of a result.

    Raises:
        LineError: They are not understood.
    """
    size, datatype, op = _size(result, line), _word(result.get("type")), _word(result.get("redop"))
    root = str(result.get("root", "")).strip()
    for place, numbers in _places(result):
        time, rate = _printed(numbers, line)
        operation = Operation(
            name=name,
            place=place,
            mode_words=mode_words,
            size=size,
            ranks=ranks,
            datatype=datatype,
            op="" if op == "none" else op,
            root=root if re.fullmatch(r"[0-9]{1,7}", root) else "",
            blocks=_blocks(result) if numbers.get("alg_bw") == numbers.get("bus_bw") else 0,
        )
        if size:
            operation.take(collector, line, time, rate, wrong=_wrong(numbers))


def _places(result: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for place in PLACES:
        if isinstance(numbers := result.get(place.replace("-", "_")), dict):
            yield place, numbers


def _printed(numbers: dict[str, Any], line: TextLine) -> tuple[str, str]:
    """Return time and rate as text, with six digits behind the point as in the file."""
    if "cpu_time" in numbers:
        raise line.refused(
            "its times are those of starting an operation (option -C), not of doing it", "run it without -C 1"
        )
    found = [numbers.get(name) for name in ("time", "alg_bw")]
    if not all(map(_is_number, found)):
        raise line.refused("has no time, or no rate that proves it", HINT)
    return f"{found[0]:.6f}", f"{found[1]:.6f}"


def _wrong(numbers: dict[str, Any]) -> str:
    wrong = numbers.get("nwrong")
    return f"{f'{wrong}'[:20]} wrong elements" if wrong else ""


def _size(result: dict[str, Any], line: TextLine) -> int:
    size = result.get("size")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 2**62:
        raise line.refused("has no size", HINT)
    return size


# ---- The job -----------------------------------------------------------------------------------------


def _proof(results: Sequence[dict[str, Any]]) -> Proof:
    """Return what the results prove about the job."""
    proof = Proof()
    for result in results:
        proof.count_blocks(_blocks(result))
        for _, numbers in _places(result):
            printed = [numbers.get(name) for name in ("time", "alg_bw", "bus_bw")]
            size = result.get("size")
            if isinstance(size, int) and size > 0 and all(map(_is_number, printed)):
                time, algbw, busbw = (f"{number:.6f}" for number in printed)
                proof.add(size, time, algbw, busbw)
    return proof


def _blocks(result: dict[str, Any]) -> int:
    size, count = result.get("size"), result.get("count")
    if not isinstance(size, int) or not isinstance(count, int) or min(size, count) <= 0:
        return 0
    return blocks_of(size, count, _word(result.get("type")))


def _ranks(config: dict[str, Any], allowed: Sequence[int], user_ranks: int) -> int:
    """Return the number of ranks; the file lists only the first device of each process.

    Args:
        allowed: Numbers of ranks that the results allow.
        user_ranks: Number of ranks that the user states.
    """
    ranks_per_process = 1
    for name in ("nthreads", "ngpus"):
        count = config.get(name)
        ranks_per_process *= count if isinstance(count, int) and 0 < count < MAX_NUMBER else 1
    devices = [_dict(one) for one in _list(config.get("devices"))]
    groups = {str(one.get("group")) for one in devices}
    stated = len(devices) * ranks_per_process if len(groups) <= 1 else 0
    if len(allowed) == 1:
        return allowed[0]
    return next((ranks for ranks in (stated, user_ranks) if ranks in allowed), 0)


def _mode_words(config: dict[str, Any]) -> list[str]:
    """Return the mode words for unusual options."""
    aggregated = config.get("aggregated_iterations")
    mode_words = [f"{aggregated} aggregated"] if isinstance(aggregated, int) and aggregated > 1 else []
    mode_words += ["graph"] if config.get("graph") else []
    return mode_words + (["blocking"] if config.get("blocking_collectives") in {True, "true"} else [])


def _experiment(results: Sequence[dict[str, Any]]) -> str:
    names = (result.get("experiment_name") for result in results)
    return next((name for name in names if isinstance(name, str) and name), "")


# ---- Values ------------------------------------------------------------------------------------------


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MAX_NUMBER


def _word(value: Any) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "", value)[:40] if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
