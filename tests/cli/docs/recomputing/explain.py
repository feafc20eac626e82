"""All sentences of `mpigauge explain` on a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.cli.docs.recomputing.contrasts import contrast
from tests.cli.docs.recomputing.copies import copies
from tests.cli.docs.recomputing.ledger import Said
from tests.cli.docs.recomputing.more_sentences import TOPICS as MORE_TOPICS
from tests.cli.docs.recomputing.planted import planted_delay, planted_rate
from tests.cli.docs.recomputing.ranks import growth, yielding
from tests.cli.docs.recomputing.sentences import TOPICS as FIRST_TOPICS
from tests.cli.docs.recomputing.sentences import talking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.cli.docs.recomputing.ledger import Ledger
    from tests.cli.docs.recomputing.reading import Result

NAMED = re.compile(r"^([\w/ -]+?): ")
MORE = re.compile(r"\d+ more: --all")


def check_sentences(ledger: Ledger, text: str, results: Sequence[Result]) -> None:
    """Of one command; of several results each sentence begins with the name of its own."""
    for line in text.splitlines():
        if not line.startswith("- ") or MORE.fullmatch(line[2:]):
            continue
        names, sentence = [results[0].name], line[2:]
        if len(results) > 1 and (named := NAMED.match(sentence)):
            names, sentence = named[1].split(" / "), sentence[named.end() :]
        said = Said(ledger, sentence)
        mine = [one for name in names for one in results if one.name == name]
        before = len(ledger.differ)
        if mine:
            try:
                _check(said, mine)
            except (IndexError, ValueError, KeyError, TypeError, StopIteration) as error:
                ledger.differ.append(f"{type(error).__name__} {error}: {sentence}")
        ledger.differ[before:] = [f"{one} [{' / '.join(names)}]" for one in ledger.differ[before:]]
        said.close("sentence")


def _check(said: Said, results: Sequence[Result]) -> None:
    if yielding(said, results) or contrast(said, talking(results[0])):
        return
    any(
        topic(said, results[0])
        for topic in (*FIRST_TOPICS, *MORE_TOPICS, copies, planted_delay, planted_rate, growth)
    )
