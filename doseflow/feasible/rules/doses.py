"""Rules about doses that travel: stock, vials, order of expiry, and the van that carries them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from doseflow.domain.decisions import acting_site_id
from doseflow.domain.report import BOOKING_BINS
from doseflow.feasible.entries import LotEntry, TransferEntry
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup
from doseflow.feasible.rule import ASSUMED, OPERATING_LIMIT, Finding, Rule
from doseflow.feasible.rules.staff import travel_objection
from doseflow.feasible.words import called, counted, plain
from doseflow.units import MINUTES_PER_HOUR

VOLUME_TOLERANCE_LITRES = 1e-5
"""A hundredth of a millilitre: the solver's own tolerance, and no vial is so small."""


def spare_doses(lookup: StateLookup, site_idx: int) -> int | None:
    """
    Doses that a site may give beyond those for the people booked and the safety share; None where bookings are unknown.

    Doses in a failing fridge are no stock to rely on, so they neither count nor are kept.
    """
    if site_idx not in lookup.spare_doses:
        lookup.spare_doses[site_idx] = _reckon_spare_doses(lookup, site_idx)
    return lookup.spare_doses[site_idx]


def _reckon_spare_doses(lookup: StateLookup, site_idx: int) -> int | None:
    booked = float(sum(lookup.state.booked_people[site_idx].tolist()))
    if math.isnan(booked):
        return None
    kept = math.ceil(booked * (1 + lookup.limits.safety_stock_share))
    lots, held = lookup.state.lots, 0
    for row in lookup.lot_rows(site_idx):
        failing = lookup.is_failing(int(lots.fridge_row.item(row)), int(lots.product_idx.item(row)))
        if lookup.is_usable(row) and not failing:
            held += lookup.free_doses(row) + int(lots.open_vial_doses.item(row))
    return max(0, held - kept)


def leaves_stock(lookup: StateLookup, entry: TransferEntry) -> bool:
    """Whether a transfer takes doses that its site could have kept."""
    return not lookup.is_failing(entry.from_fridge_row, entry.product_idx)


def _doses(entries: Sequence[LotEntry]) -> int:
    return sum(entry.doses for entry in entries)


def _positions(entries: Sequence[LotEntry]) -> tuple[int, ...]:
    return tuple(entry.position for entry in entries)


def _lot(ledger: Ledger, lot_row: int) -> str:
    lots = ledger.lookup.state.lots
    return f"lot {lots.lot_number[lot_row]} at {ledger.lookup.name(int(lots.site_idx.item(lot_row)))}"


def _doses_on_hand(ledger: Ledger) -> Iterator[Finding]:
    lots = ledger.lookup.state.lots
    for lot_row, entries in ledger.doses_out_by_lot.items():
        free, asked = ledger.lookup.free_doses(lot_row), _doses(entries)
        if asked > free:
            sentence = f"{_lot(ledger, lot_row)}: {counted(asked, 'dose')} asked for, {free} unopened and free"
            yield Finding(acting_site_id(entries[0].decision), sentence, asked - free, _positions(entries))
    for mark in ledger.markings:
        held = int(lots.unopened_doses.item(mark.lot_row) + lots.open_vial_doses.item(mark.lot_row))
        if mark.doses > held:
            sentence = f"{_lot(ledger, mark.lot_row)}: {counted(mark.doses, 'dose')} to take out of use, {held} there"
            yield Finding(mark.decision.site_id, sentence, mark.doses - held, (mark.position,))


def _whole_vials(ledger: Ledger) -> Iterator[Finding]:
    for entry in ledger.lot_entries:
        per_vial = ledger.lookup.doses_per_vial(entry.product_idx)
        over = entry.doses % per_vial
        if over:
            sentence = f"{_lot(ledger, entry.lot_row)}: {counted(entry.doses, 'dose')} are no whole vials of {per_vial}"
            yield Finding(acting_site_id(entry.decision), sentence, over, (entry.position,))


def _lot_usable(ledger: Ledger) -> Iterator[Finding]:
    for entry in ledger.lot_entries:
        # A recalled lot has a rule of its own.
        if ledger.lookup.is_expired(entry.lot_row) or ledger.lookup.is_spent(entry.lot_row):
            why = "expired" if ledger.lookup.is_expired(entry.lot_row) else "past its excursion budget"
            yield Finding(
                acting_site_id(entry.decision), f"{_lot(ledger, entry.lot_row)} is {why}", 1.0, (entry.position,)
            )


def _lot_life(ledger: Ledger) -> Iterator[Finding]:
    for entry in ledger.transfers:
        life, needed = ledger.lookup.life_minutes(entry.lot_row), ledger.trip_life_minutes(entry)
        if not life >= needed:
            have = (
                f"has {plain(life / MINUTES_PER_HOUR)} h to live" if not math.isnan(life) else "has an unknown expiry"
            )
            sentence = (
                f"{_lot(ledger, entry.lot_row)} {have}, {plain(needed / MINUTES_PER_HOUR)} h with the trip are needed"
            )
            yield Finding(entry.decision.from_site_id, sentence, 1.0, (entry.position,))


def _fefo(ledger: Ledger) -> Iterator[Finding]:
    for entry in ledger.transfers:
        for row in ledger.earlier_lots(entry):
            whole, leaving = ledger.lookup.free_vial_doses(row), _doses(ledger.transfers_by_lot.get(row, []))
            if leaving < whole:
                sentence = (
                    f"{_lot(ledger, entry.lot_row)} may leave only after {_lot(ledger, row)}, which expires earlier: "
                    f"{leaving} of its {counted(whole, 'dose')} leave"
                )
                yield Finding(entry.decision.from_site_id, sentence, float(entry.doses), (entry.position,))


def _safety_stock(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    for site_idx, transfers in ledger.transfers_by_giver.items():
        leaving = [entry for entry in transfers if leaves_stock(lookup, entry)]
        spare = spare_doses(lookup, site_idx)
        if leaving and _doses(leaving) > (spare or 0):
            hours = BOOKING_BINS / 4
            why = (
                "its bookings are unknown"
                if spare is None
                else f"the rest is for those booked in the next {plain(hours)} h and the safety share"
            )
            asked = counted(_doses(leaving), "dose")
            sentence = f"{lookup.name(site_idx)}: {asked} asked to leave, {spare or 0} may: {why}"
            yield Finding(lookup.site_id(site_idx), sentence, _doses(leaving) - (spare or 0), _positions(leaving))


def _product_allowed(ledger: Ledger) -> Iterator[Finding]:
    for entry in ledger.transfers:
        if entry.decision.product_id not in ledger.lookup.city.sites[entry.to_idx].products:
            product = ledger.lookup.city.products[entry.product_idx].name
            sentence = f"{ledger.lookup.name(entry.to_idx)} may not store or give {product}"
            yield Finding(entry.decision.to_site_id, sentence, 1.0, (entry.position,))


def _road_known(ledger: Ledger) -> Iterator[Finding]:
    for entry in ledger.transfers:
        said = entry.decision.travel_minutes
        objection = travel_objection(ledger.lookup, entry.from_idx, entry.to_idx, said, math.inf)
        if objection is not None:
            yield Finding(entry.decision.from_site_id, objection, 1.0, (entry.position,))


def _van_where_said(ledger: Ledger) -> Iterator[Finding]:
    lookup, vans = ledger.lookup, ledger.lookup.state.vans
    for entry in ledger.transfers:
        stands, free = int(vans.site_idx.item(entry.van_idx)), vans.free_epoch_minutes.item(entry.van_idx)
        van = called(entry.decision.van_id, "van")
        if stands != entry.from_idx:
            where = "is nobody knows where" if stands < 0 else f"stands at {lookup.name(stands)}"
            sentence = f"{van} {where}, not at {lookup.name(entry.from_idx)}"
        elif not free <= lookup.as_of_minutes:
            bound = "for an unknown time" if math.isnan(free) else f"for {plain(free - lookup.as_of_minutes)} min"
            sentence = f"{van} at {lookup.name(entry.from_idx)} is bound {bound}"
        elif entry.decision.van_id in lookup.taken_vans:
            sentence = f"{van} at {lookup.name(entry.from_idx)} is promised to an acknowledged order"
        else:
            continue
        yield Finding(entry.decision.from_site_id, sentence, 1.0, (entry.position,))


def _van_one_trip(ledger: Ledger) -> Iterator[Finding]:
    for transfers in ledger.transfers_by_van.values():
        first = transfers[0]
        others = [entry for entry in transfers if (entry.from_idx, entry.to_idx) != (first.from_idx, first.to_idx)]
        if others:
            ends = ", ".join(dict.fromkeys(ledger.lookup.name(entry.to_idx) for entry in others))
            end = ledger.lookup.name(first.to_idx)
            sentence = f"{called(first.decision.van_id, 'van')} carries doses to {end} and on another trip to {ends}"
            yield Finding(first.decision.from_site_id, sentence, float(_doses(others)), _positions([first, *others]))


def _van_volume(ledger: Ledger) -> Iterator[Finding]:
    for van_idx, transfers in ledger.transfers_by_van.items():
        litres = sum(entry.doses * ledger.lookup.litres_per_dose(entry.product_idx) for entry in transfers)
        capacity = ledger.lookup.city.vans[van_idx].capacity_litres
        if litres > capacity + VOLUME_TOLERANCE_LITRES:
            sentence = (
                f"{called(transfers[0].decision.van_id, 'van')}: {litres:.2f} litres to carry, it holds {capacity:.2f}"
            )
            yield Finding(transfers[0].decision.from_site_id, sentence, litres - capacity, _positions(transfers))


DOSE_RULES = (
    Rule(
        name="doses_on_hand",
        hard=True,
        sentence="No more doses leave a lot than are unopened there, less those promised to acknowledged orders.",
        sentence_zh="调出剂数不得超过未开封且未被占用的库存",
        reason="Doses are conserved; wasted trips come from promising what is not there.",
        source="conservation; covidliste 239, 377",
        check=_doses_on_hand,
        unit="doses",
    ),
    Rule(
        name="whole_vials",
        hard=True,
        sentence="Doses travel as whole vials.",
        sentence_zh="须整瓶调拨",
        reason="An opened vial lives for hours and does not travel.",
        source="product label: in-use life",
        check=_whole_vials,
        unit="doses",
    ),
    Rule(
        name="lot_usable",
        hard=True,
        sentence="A lot that is expired or past its excursion budget goes nowhere but out of use.",
        sentence_zh="过期或超温超限的批次不得调拨",
        reason="It must not be given, so nobody should receive it.",
        source="product label: storage excursions",
        check=_lot_usable,
        each_alone=True,
    ),
    Rule(
        name="lot_life",
        hard=True,
        sentence="A lot has at least `min_lot_life_minutes` to live when it arrives.",
        sentence_zh="到达时剩余有效期不得少于规定时间",
        reason="Doses that expire on the shelf next door are wasted with a journey on top.",
        source=OPERATING_LIMIT,
        check=_lot_life,
        each_alone=True,
    ),
    Rule(
        name="fefo",
        hard=True,
        sentence="A lot leaves only if every usable lot of the product that expires earlier leaves whole.",
        sentence_zh="近效期先出：较早到期的批次须先整批调出",
        reason="First expired, first out: what a site keeps longest must be what lives longest.",
        source="usual stock practice (first expired, first out)",
        check=_fefo,
        unit="doses",
    ),
    Rule(
        name="safety_stock",
        hard=True,
        sentence="A giver keeps doses for the people booked in the next two hours plus `safety_stock_share`.",
        sentence_zh="调出方须保留已预约人数加安全余量的剂数",
        reason="Nobody with an appointment may find the site empty because it helped another.",
        source=OPERATING_LIMIT,
        check=_safety_stock,
        unit="doses",
    ),
    Rule(
        name="product_allowed",
        hard=True,
        sentence="A site receives only products that it may store and give.",
        sentence_zh="接收点须有权储存和接种该产品",
        reason="It lacks the licence, the training or the freezer for others.",
        source="site register",
        check=_product_allowed,
        each_alone=True,
    ),
    Rule(
        name="road_known",
        hard=True,
        sentence="Doses travel only between sites with a known travel time, and the order says it rightly.",
        sentence_zh="调拨路程须已知",
        reason="Life left, and the van's return, are reckoned from it.",
        source="travel table of the city",
        check=_road_known,
        each_alone=True,
    ),
    Rule(
        name="van_where_said",
        hard=True,
        sentence="The van stands at the giving site, is known to be free, and is not promised to another order.",
        sentence_zh="车辆须在调出点且空闲",
        reason="An order for a van that is elsewhere waits, and the doses wait with it.",
        source="report class 17",
        check=_van_where_said,
        each_alone=True,
    ),
    Rule(
        name="van_one_trip",
        hard=True,
        sentence="Everything on a van in one cycle goes from the same site to the same site.",
        sentence_zh="一车一次只跑一条线路",
        reason="Routes with several stops are not planned here, so they must not be ordered here.",
        source=ASSUMED,
        check=_van_one_trip,
        unit="doses",
    ),
    Rule(
        name="van_volume",
        hard=True,
        sentence="What a van carries fits into its cold volume.",
        sentence_zh="装载体积不得超过车载冷藏容积",
        reason="What does not fit rides warm.",
        source="van register",
        check=_van_volume,
        unit="litres",
    ),
)
