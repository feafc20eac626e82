"""Sentences of the pages on exchange, ring and send modes."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from book import (
    AND,
    Book,
    deviations,
    percents,
    place,
    places,
    quotient,
    size,
    span,
    statement,
    time,
    times,
    verdict,
)

from mpigauge import units
from mpigauge.analysis.verdict import is_small
from mpigauge.analysis.verdict import verdict as verdict_of
from mpigauge.plan.lab import TCP_SHARE
from mpigauge.show.words.status import reason
from mpigauge.units import format_factor as factor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from book import Story


BOTH = ("nonblocking", "blocking")


# ---- Exchange ------------------------------------------------------------------------------------


@statement("exchange.limit")
def _limit(book: Book) -> Iterator[str]:
    ours, printed = book["placements"], book.printed("exchange-agh-2020")
    for row in ours.rows:
        if row.cell.pattern == "eager":
            found = f"{row.limit_bytes} B" if row.limit_bytes is not None else f"{row.status}, {reason(row)}"
            yield f"Eager limit here, {place(row.cell.transport, row.cell.placement)}: {found}."
    blocked = [row for row in ours.rows if row.status == "blocked"]
    planned = [row for row in ours.rows if row.cell.pattern == "exchange" and row.cell.mode == "blocking"]
    yield f"{len(blocked)} of {len(planned)} blocking exchanges are above it: reported, and not started."
    largest = [
        f"{size(printed.sizes(mode='blocking', transport=t, placement=p)[-1])} ({place(t, p)})"
        for t, p in places(printed)
    ]
    yield f"Printed: the largest size that did not block is {AND.join(largest)}, among sizes in steps of 4."


@statement("exchange.network")
def _network(book: Book) -> Iterator[str]:
    ours, printed = book["placements"], book.printed("exchange-agh-2020")
    ratios = [
        quotient(over, under)
        for mode in BOTH
        for under in printed.all(transport="shm", mode=mode)
        if (over := printed.one(transport="tcp", placement="same-host", mode=mode, bytes=under.cell.bytes))
    ]
    yield (
        f"Printed: through the network stack of one node an exchange takes {span(ratios)} times as long as "
        f"through its memory, at {len(ratios)} sizes and modes; median {factor(median(ratios))} times."
    )
    here = []
    for mode in BOTH:
        where = {"pattern": "exchange", "placement": "same-host", "mode": mode, "bytes": 8}
        ratio = ours.ratio(ours.one(transport="tcp", **where), ours.one(transport="shm", **where))
        here.append(ratio)
        yield f"Here, {mode}, 8 B: {times(ratio)} as long."
    for transport in ("shm", "tcp"):
        mine = ours.all(pattern="exchange", transport=transport, placement="same-host")
        shares = [row.net_share for row in mine if row.net_share is not None]
        yield f"Counted on the network interfaces, {transport} on one host: {percents(shares)} of payload."
    if all(one is not None and one.low is not None and one.low > 2 * median(ratios) for one in here):
        yield (
            "A network stack that is really used costs clearly more than that. The printed curve is most "
            "likely one of shared memory under another label."
        )
    else:
        yield "This measurement cannot tell whether the printed label was true."


@statement("exchange.distance")
def _distance(book: Book) -> Iterator[str]:
    ours, printed = book["placements"], book.printed("exchange-latency-agh-2020")
    for mode in BOTH:
        far = printed.one(mode=mode, placement="two hosts")
        near = printed.one(mode=mode, transport="shm")
        ratio = quotient(far, near)
        yield f"Printed, {mode}: two hosts take {factor(ratio)} times as long as shared memory at 64 bit."
        base = ours.one(pattern="exchange", mode=mode, transport="shm")
        for transport, placement in places(ours, pattern="exchange"):
            row = ours.one(pattern="exchange", mode=mode, transport=transport, placement=placement)
            if transport != "shm" and row is not None:
                where = place(transport, placement)
                yield f"Here, {mode}, {where}: {times(ours.ratio(row, base))} as long, {time(row)}."


@statement("exchange.modes")
def _modes(book: Book) -> Iterator[str]:
    ours, printed = book["placements"], book.printed("exchange-agh-2020")
    for title, story in (("Printed", printed), ("Here", ours)):
        for transport, placement in places(story, pattern="exchange"):
            where = {"pattern": "exchange", "transport": transport, "placement": placement}
            common = sorted({*story.sizes(mode=BOTH[0], **where)} & {*story.sizes(mode=BOTH[1], **where)})
            if common:
                ends = AND.join(_of_modes(story, where, b) for b in dict.fromkeys((common[0], common[-1])))
                yield f"{title}, {place(transport, placement)}, non-blocking against blocking: {ends}."


def _of_modes(story: Story, where: dict[str, str], size_bytes: int) -> str:
    over, under = (story.one(mode=mode, bytes=size_bytes, **where) for mode in BOTH)
    if story.result.imported:
        return f"{factor(quotient(over, under))} times as long at {size(size_bytes)}"
    ratio = story.ratio(over, under)
    return f"{times(ratio)} as long at {size(size_bytes)}: {verdict(ratio)}"


# ---- Ring and pairs ------------------------------------------------------------------------------


@statement("ring.first")
def _first(book: Book) -> Iterator[str]:
    ours = book["ring"]
    for ranks in ours.values("ranks", pattern="ring"):
        known = [row for row in ours.all(pattern="ring", ranks=ranks) if row.first_s and row.time]
        if known:
            ratios = {row.cell.bytes: (row.first_s or 0) / row.time.estimate for row in known if row.time}
            worst = max(ratios, key=lambda size_bytes: ratios[size_bytes])
            yield (
                f"{ranks} ranks: the first lap takes {span(ratios.values())} times as long as a typical one, "
                f"most at {size(worst)}."
            )


@statement("ring.spread")
def _spread(book: Book) -> Iterator[str]:
    printed = book.printed("ring-pairs").all()
    yield f"Printed: the standard deviation is {percents(deviations(printed))} of the mean."
    ours = book["ring"]
    for ranks in ours.values("ranks", pattern="ring"):
        mine = ours.all(pattern="ring", ranks=ranks)
        widths = [row.time.half_width for row in mine if row.time and row.time.half_width is not None]
        crowd = ", sharing cores" if any(row.oversubscribed for row in mine) else ""
        half = units.format_percent(median(widths)) if widths else "not known: one launch has none"
        if mine:
            yield (
                f"Here, {ranks} ranks{crowd}: the standard deviation is {percents(deviations(mine))} of the "
                f"mean; median half-width of the intervals: {half}."
            )


@statement("ring.pairs")
def _pairs(book: Book) -> Iterator[str]:
    printed, ours = book.printed("ring-pairs"), book["pairs"]
    near, far = "nodes 6 and 7", "nodes 6 and 75"
    for b in dict.fromkeys((printed.sizes()[0], printed.sizes()[-1])):
        ratio = quotient(printed.one(placement=far, bytes=b), printed.one(placement=near, bytes=b))
        yield f"Printed, {size(b)}: the far pair takes {factor(ratio)} times as long as the near one."
    sizes = ours.sizes(pattern="pingpong", placement="h1,h2")
    for b in dict.fromkeys((*sizes[:1], *sizes[-1:])):
        pair = (ours.one(pattern="pingpong", placement=p, bytes=b) for p in ("h1,h3", "h1,h2"))
        found = ours.ratio(*pair)
        yield f"Here, {size(b)}: {times(found)} as long: {verdict(found)}."


# ---- Send modes ----------------------------------------------------------------------------------


@statement("modes.latency")
def _latency(book: Book) -> Iterator[str]:
    printed = book.printed("modes-latency-agh")
    for placement in printed.values("placement"):
        over, under = (printed.one(mode=mode, placement=placement) for mode in ("buffered", "standard"))
        yield (
            f"Printed, {placement}: standard {time(under)}, buffered {time(over)}: "
            f"{factor(quotient(over, under))} times as long."
        )
    for name, where in (("modes", "on one host"), ("modes-lan", "between two hosts")):
        ours = book[name]
        base = ours.one(pattern="pingpong", mode="standard")
        for mode in ("buffered", "synchronous"):
            ratio = ours.ratio(ours.one(pattern="pingpong", mode=mode), base)
            yield (
                f"Here, {where}, 1 B: standard {time(base)}, {mode} takes {times(ratio)} as long: "
                f"{verdict(ratio)}."
            )


@statement("modes.synchronous")
def _synchronous(book: Book) -> Iterator[str]:
    for name, where in (("modes", "one host"), ("modes-lan", "two hosts")):
        ours = book[name]
        limit = next((row.limit_bytes for row in ours.rows if row.limit_bytes is not None), None)
        if limit is None:
            yield f"{where.capitalize()}: no eager limit was found, so the question stays open."
            continue
        sizes = ours.sizes(mode="standard", pattern="pingpong")
        sides = {"up to": [b for b in sizes if b <= limit], "above": [b for b in sizes if b > limit]}
        for word, mine in sides.items():
            ratios = [
                ours.ratio(ours.one(mode="synchronous", bytes=b), ours.one(mode="standard", bytes=b))
                for b in mine
            ]
            known = [ratio for ratio in ratios if ratio is not None]
            if known:
                middle = median(ratio.estimate for ratio in known)
                slower = [ratio for ratio in known if verdict_of(ratio) == "slower"]
                little = sum(map(is_small, slower))
                small = f", at {little} of them by less than 5 %" if little else ""
                yield (
                    f"{where.capitalize()}, {word} the eager limit of {limit} B: synchronous takes longer "
                    f"than standard at {len(slower)} of {len(known)} sizes{small}; median "
                    f"{factor(middle)} times as long."
                )


@statement("modes.spread")
def _spread_of_modes(book: Book) -> Iterator[str]:
    for name, where in (("modes", "One host"), ("modes-lan", "Two hosts")):
        for mode in book[name].values("mode", pattern="pingpong"):
            mine = book[name].all(pattern="pingpong", mode=mode)
            widths = [row.time.half_width for row in mine if row.time and row.time.half_width is not None]
            if mine:
                half = f"{units.format_percent(median(widths))}" if widths else "not known"
                yield (
                    f"{where}, {mode}: standard deviation {percents(deviations(mine))} of the mean; median "
                    f"half-width of the 95 % intervals: {half}."
                )


@statement("modes.plateau")
def _plateau(book: Book) -> Iterator[str]:
    yield from _beside_copies(book["modes"])
    yield from _beside_link(book["modes-lan"])


def _beside_copies(ours: Story) -> Iterator[str]:
    """On one host: how many copies of what another process wrote a message is worth."""
    copy = ours.one(pattern="crosscopy")
    for mode in ours.values("mode", pattern="pingpong"):
        mine = [row for row in ours.all(pattern="pingpong", mode=mode) if row.rate_bytes_per_s]
        if mine and copy is not None:
            where = f"{mode.capitalize()}, {size(mine[-1].cell.bytes)} on one host"
            rate = units.format_rate(mine[-1].rate_bytes_per_s, "Gbit/s")
            ratio = times(ours.ratio(mine[-1], copy))
            yield f"{where}: {rate}; a message takes {ratio} as long as such a copy of its size."


def _beside_link(ours: Story) -> Iterator[str]:
    lab = ours.result.campaign.plan.lab
    for mode in ours.values("mode", pattern="pingpong"):
        mine = [row for row in ours.all(pattern="pingpong", mode=mode) if row.rate_bytes_per_s]
        if mine and lab is not None:
            most = units.parse_link_rate(lab.rate) * TCP_SHARE
            rate = mine[-1].rate_bytes_per_s or 0.0
            yield (
                f"{mode.capitalize()}, {size(mine[-1].cell.bytes)} between two hosts: "
                f"{units.format_rate(rate, 'Mbit/s')}, {units.format_percent(rate / most)} of what TCP can "
                f"bring through {lab.rate}."
            )
