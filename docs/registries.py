"""Tables of pages that are computed from the registries: kinds, columns, patterns, and fields of JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pages

from mpigauge.cli.options.unmeasured import UNMEASURED
from mpigauge.plan.names import DESCRIPTION
from mpigauge.plan.patterns import NONE, Pattern, Terms, known, modes_of
from mpigauge.show.columns import EXTRA_COLUMNS, NOTES, PAIR, USUAL_COLUMNS, WINDOW

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.query.kinds import DisplayKind

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
POWERS = (" / p", "", " p", " p\N{SUPERSCRIPT TWO}")
TRIPS = {
    "repeats": "16 up to 16 KiB warm, otherwise 1",
    "pairs": "window × pairs",
    "others": "window × other ranks",
}
"""Text for the number of operations in one round, where it is no number."""

Row = tuple[str, ...]


def table(heads: Row, rows: Iterable[Sequence[str]], numbers: tuple[str, ...] = ()) -> str:
    """Return a table in Markdown.

    Args:
        numbers: The columns that are aligned at the right.
    """
    rule = ["---:" if head in numbers else "---" for head in heads]
    return "\n".join([*map(_line, [heads, rule, *rows]), ""])


def _line(entries: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(entry.split()).replace("|", "\\|") for entry in entries) + " |"


def fields(meanings: Mapping[str, str]) -> str:
    """Return a table of fields and their meanings."""
    return table(("field", "is"), [(f"`{name}`", about) for name, about in meanings.items()])


# ---- What is shown -------------------------------------------------------------------------------


def kinds(registry: Mapping[str, DisplayKind]) -> str:
    """Return a table of the kinds of figures or tables."""
    rows = [(_names(kind), kind.about, kind.needs) for kind in registry.values()]
    return table(("kind", "shows", "needs"), rows)


def _names(kind: DisplayKind) -> str:
    return ", ".join(f"`{name}`" for name in (kind.name, *kind.aliases))


def columns() -> str:
    """Return a table of the columns of a curve, the usual ones first."""
    usual = [(one.heading, "", one.about) for one in (WINDOW, PAIR, *USUAL_COLUMNS, NOTES)]
    on_request = [(one.heading, f"`{name}`", one.about) for name, one in EXTRA_COLUMNS.items()]
    return table(("column", "`--columns`", "is"), [*usual, *on_request])


def fields_of_columns() -> dict[str, str]:
    """Return a table of the JSON fields that come from columns."""
    return {one.field: one.about for one in EXTRA_COLUMNS.values() if one.field}


# ---- gallery.md ----------------------------------------------------------------------------------

GALLERY = """\
# Gallery

One figure of every kind, of results that are kept in `docs/results`. How to read each stands in
[Figures](figures.md). Every one is also there as PDF, for papers. Run the plan, then the command, and the
figure is that of your own machine.
"""


def gallery(registry: Mapping[str, DisplayKind]) -> str:
    """Return the page with a figure of every kind that has an example."""
    return "\n".join([GALLERY, *(_example(kind) for kind in registry.values() if kind.example)])


def _example(kind: DisplayKind) -> str:
    command = pages.Command(f"mpigauge plot {kind.example}", 0)
    about = kind.about[0].upper() + kind.about[1:]
    shown = command.makes.removesuffix(".png")
    measured = ", ".join(f"[{name}]({at})" for name, at in _measured_for(command))
    return f"""\
## {kind.name}

{about}.

```console
$ {command.text}
```
![{about}](figures/{shown}.png)

[As PDF](figures/{shown}.pdf) \N{MIDDLE DOT} measured for {measured}
"""


def _measured_for(command: pages.Command) -> Iterator[tuple[str, str]]:
    """Yield the pages with the plan of a command's result; reports come first."""
    for page in pages.pages():
        made = {one.makes for one in page.commands if one.verb in pages.MEASURING}
        at = page.path.relative_to(pages.DOCS) if page.path.is_relative_to(pages.DOCS) else None
        if at and made & set(command.reads):
            yield page.path.stem, at.as_posix()


# ---- result-file.md ----------------------------------------------------------------------------------


def visit_keys() -> str:
    """Return a table of the keys of a visit in the kernel's plan, without pattern and mode."""
    rows = [
        (f"`{key['name']}`", "" if key["usual"] in ("", -1) else f"`{key['usual']}`", key["about"])
        for key in json.loads(DESCRIPTION.read_bytes())["visit_keys"]
    ]
    return table(("key", "if left out", "meaning"), rows)


def unmeasured() -> str:
    """Return a table of what other benchmarks measure and mpigauge does not."""
    return table(("what", "why it is not measured, or not yet"), [(one.name, one.why) for one in UNMEASURED])


# ---- Patterns ------------------------------------------------------------------------------------


def patterns() -> str:
    """Return a table of the kernel's patterns and modes, the default ones in bold.

    Modes that all collectives share come once.
    """
    rows = [(f"`{of.name}`", of.about, _modes(of)) for of in known().values()]
    return table(("pattern", "what it does", "modes, the default ones in bold"), rows)


def _has_modes_of_collectives(pattern: Pattern) -> bool:
    return pattern.starts_together and pattern.family == "collective"


def _modes(pattern: Pattern) -> str:
    if not _has_modes_of_collectives(pattern):
        usual = modes_of(pattern, (), "")
        return " ".join(f"**`{one.name}`**" if one in usual else f"`{one.name}`" for one in pattern.modes)
    every = [{mode.name for mode in of.modes} for of in known().values() if _has_modes_of_collectives(of)]
    own = [f"`{mode.name}`" for mode in pattern.modes if mode.name not in set.intersection(*every)]
    return " ".join(["those of collectives", *(["and", *own] if own else [])])


def operations() -> str:
    """Return a table of what one time spans, and of the operations in a round."""
    kept = {one["name"]: one for one in json.loads(DESCRIPTION.read_bytes())["patterns"]}

    def counted(count: object, pattern: Pattern) -> str:
        return DASH if pattern.probes else TRIPS.get(str(count), str(count))

    named = []
    for of in known().values():
        named.append((f"`{of.name}`", (of.time_of, counted(kept[of.name]["trips"], of))))
        for mode in kept[of.name]["modes"]:
            if mode["time_of"]:
                count = mode["trips"] or kept[of.name]["trips"]
                named.append((f"`{of.name} {mode['name']}`", (mode["time_of"], counted(count, of))))
    rows = _together(named)
    return table(("pattern", "one operation", "in one round"), rows, numbers=("in one round",))


def rates() -> str:
    """Return a table of bandwidths by the size n of a message or block, the ranks p and the time t."""
    named: list[tuple[str, Row]] = []
    for of in known().values():
        directions = {mode.directions: mode.name for mode in of.modes if not mode.no_rate}
        for count, mode in directions.items():
            name = f"`{of.name} {mode}`" if len(directions) > 1 else f"`{of.name}`"
            named.append((name, (rate(of.volumes.operation, count), rate(of.volumes.bus, count))))
    return table(("pattern", "bandwidth", "bus bandwidth"), _together(named))


def rate(volume: Terms, directions: int) -> str:
    """Return the bytes per second of a volume as a formula; a dash if there is none."""
    if volume == NONE:
        return DASH
    blocks = _sum([directions * term for term in volume])
    text = {"1": "n / t", "0.5 p": "p / 2 n / t"}.get(blocks, f"{blocks} n / t")
    return f"{text}: both directions" if directions > 1 else text


def _sum(terms: Sequence[float]) -> str:
    """Return coefficients of 1 / p, 1, p and p squared as a sum, negative terms last."""
    parts = [
        (term < 0, _product(abs(term), power)) for term, power in zip(terms, POWERS, strict=True) if term
    ]
    first, *others = sorted(parts, key=lambda part: part[0])
    whole = (f"{MINUS} " if first[0] else "") + first[1]
    whole += "".join(f" {MINUS if less else '+'} {text}" for less, text in others)
    return f"({whole})" if others else whole


def _product(factor: float, power: str) -> str:
    return power.strip() if factor == 1 and power.startswith(" p") else f"{factor:g}{power}"


def _together(named: Sequence[tuple[str, Row]]) -> list[Row]:
    """Return one row for all names with the same meaning, in the order of the first."""
    places: dict[Row, list[str]] = {}
    for name, meaning in named:
        places.setdefault(meaning, []).append(name)
    return [(" ".join(names), *meaning) for meaning, names in places.items()]
