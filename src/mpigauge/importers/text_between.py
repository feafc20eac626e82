"""Text between tables: whether it tells the runs above and below it apart.

Blank lines, prompts, rules, rows, and words that count (`Run 2:`, a time of day, `real 0m7.0s`) tell nothing.
Neither does what is printed with each of the tables, as banners and footers are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.importers.command_lines import MAX_CHARACTERS, without_prompt
from mpigauge.importers.text import NUMBERS_OF_ROW, begins_row, is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

_DONE_AGAIN = frozenset(
    (
        *("run", "runs", "rerun", "iteration", "iterations", "iter", "repetition", "rep", "repeat", "trial"),
        *("attempt", "try", "pass", "round", "loop", "launch", "execution", "time", "again", "more"),
    )
)
_NUMBERING = frozenset(
    (
        *("once", "no", "nr", "number", "of", "the", "first", "second", "third", "fourth", "fifth", "sixth"),
        *("seventh", "eighth", "ninth", "tenth", "1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th"),
        *("9th", "10th"),
    )
)
"""Words that number what is done again."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TELLS_TIME = frozenset(
    (
        *("real", "user", "sys", "system", "elapsed", "cpu", "time", "date", "started", "start", "finished"),
        *("end", "ended", "begin", "began", "at", "on", "seconds", "sec", "s", "am", "pm", "utc", "gmt"),
        *("cet", "cest", "est", "edt", "pst", "pdt", "mst", "mdt", "cst", "cdt", "jst", "kst", "ist", "bst"),
        *_MONTHS,
        *_DAYS,
    )
)
_NAMED_DAY = rf"\b(?i:{'|'.join(_DAYS)})[a-z]*,? +(?:[0-9]{{1,2}} +)?(?i:{'|'.join(_MONTHS)})[a-z]*"
_WHEN = re.compile(
    r"\b[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}(?:[T_](?=[0-9]{1,2}:)|\b)"
    r"|\b[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}\b"
    r"|(?<![\w:.])[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z\b|[+-][0-9]{2}:?[0-9]{2}\b|(?![\w:.]))"
    r"|\b(?:[0-9]+m)?[0-9]+[.,][0-9]+s\b"
    r"|(?:(?<=^real)|(?<=^user)|(?<=^sys)) +[0-9.]+(?![\w.])"
    rf"|{_NAMED_DAY}(?: +[0-9]{{1,2}}\b)?(?:,? +[0-9]{{4}}\b)?"
)
"""A date, a time of day, or how long something took."""

_NUMBERED = re.compile(
    r"(?<=:)[0-9]+(?=(?::[0-9]+)?[\])])|\b0x[0-9a-fA-F]+|\[[0-9]+\.[0-9]+\]"
    r"|(?<=\w)(?::[0-9]+){2}(?= \[[0-9]+\])"
    r"|(?i:(?<=pid)|(?<=job)|(?<=jobid)|(?<=step))[ =:]{1,3}[0-9.]+"
)
"""The number of a process or job in a message of a launcher or library."""

_SUM = re.compile(r"(?:# )?(?:Avg bus bandwidth|Out of bounds values) *:.*")
"""A line below a table of nccl-tests, with numbers of that table."""

_NOTHING = re.compile(r"(?>(?></?[A-Za-z!][^<>]{0,400}>|[\W_])*+)|(?:```|~~~).*")
"""A rule, tags of HTML, or a fence of Markdown."""

_DECIMAL = re.compile(r"[0-9][.,-][0-9]")
_HOST = re.compile(r"\[|[^\s@]+@")
"""Beginning of a prompt that says where a command is given."""

_SETS_FILE = re.compile(
    r"(?:sudo )?echo (?P<value>\S+) (?:>|\| *(?:sudo )?tee) */(?:proc|sys)/\S*?(?P<name>[^/\s]+)"
)
_LIKE_CAPTION = re.compile(
    r"[#=*]|\w+=\S+\Z|.*[:=]\Z|(?:export|setenv|unset|module|ml|source|cd|ssh|spack|conda) "
)


def telling_line(text: str) -> str:
    """Return the words of a line that may tell tables apart; empty if it has none, or only counts."""
    words = " ".join(without_prompt(text.strip()[: 2 * MAX_CHARACTERS])[1].split())
    if _NOTHING.fullmatch(words) or _SUM.fullmatch(words) or _is_row(words):
        return ""
    if counts(words) or _only_times(words):
        return ""
    if match := _SETS_FILE.fullmatch(words):
        return f"{match['name']}={match['value']}"
    return words[:MAX_CHARACTERS]


def where_prompted(text: str) -> str:
    """Return the host and folder that the prompt of a line names; empty if it names none."""
    prompt = without_prompt(text.strip()[: 2 * MAX_CHARACTERS])[0]
    return _WHEN.sub("", prompt).strip(" $%#>[]") if _HOST.match(prompt) else ""


def counts(text: str) -> bool:
    """Return whether a line only counts what is done again: `Run 2:`, `--- iteration 3 of 5 ---`."""
    words = re.findall(r"[^\W_]+", text[:MAX_CHARACTERS].lower())
    return (
        not _DONE_AGAIN.isdisjoint(words)
        and all(word.isdigit() or word in _DONE_AGAIN or word in _NUMBERING for word in words)
        and _DECIMAL.search(text[:MAX_CHARACTERS]) is None
    )


def numbers_runs(label: str) -> bool:
    """Return whether the name of a run only counts: `run1`, not `node1` or `openmpi-5`."""
    return counts(re.sub(r"([0-9]+)", r" \1 ", label))


def _only_times(text: str) -> bool:
    """Return whether a line only says when it was, or how long it took."""
    rest, found = _WHEN.subn(" ", text)
    words = re.findall(r"[^\W_]+", rest.lower())
    return (found > 0 or words == ["date"]) and all(
        word in _TELLS_TIME or (word.isdigit() and len(word) in {1, 2, 4}) for word in words
    )


def _is_row(text: str) -> bool:
    """Return whether a line is a row of a table, whole or torn."""
    words = text.replace("|", " ").split()
    return begins_row(words) or sum(map(is_number, words)) >= max(NUMBERS_OF_ROW, (len(words) + 1) // 2)


def masked(line: str) -> str:
    """Return a line without times and numbers of processes, which are others each time."""
    return _NUMBERED.sub("", _WHEN.sub("", line))


def shared_end(texts: Sequence[Sequence[str]]) -> int:
    """Return with how many lines or words all of several texts end."""
    least = min(map(len, texts), default=0)
    return next((at for at in range(least) if len({text[-1 - at] for text in texts}) > 1), least)


def shared_beginning(texts: Sequence[Sequence[str]]) -> int:
    """Return with how many lines or words all of several texts begin."""
    least = min(map(len, texts), default=0)
    return next((at for at in range(least) if len({text[at] for text in texts}) > 1), least)


def caption_of(lines: Sequence[str]) -> str:
    """Return the line that names what is below: the last that looks like a caption, else the last."""
    return next((line for line in reversed(lines) if _LIKE_CAPTION.match(line)), lines[-1] if lines else "")
