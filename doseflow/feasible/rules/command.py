"""Rules that command and the sites lay down: frozen, suspended, pinned, refused; and data too old to act on."""

from __future__ import annotations

from collections.abc import Iterator

from doseflow.domain.decisions import (
    Decision,
    MarkUnusable,
    PreCool,
    ReleaseSlots,
    SetPoint,
    StationChange,
    Why,
    acting_site_id,
    expecting_site_id,
)
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.roles import STAGE_TO_IDX, STAGES
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup
from doseflow.feasible.rule import OPERATING_LIMIT, Finding, Rule
from doseflow.feasible.rules.stations import is_closing_suspended
from doseflow.feasible.words import called, counted, phrase, plain

_WORDS_OF_CLASS = {
    FeatureClass.STAFF_ON_DUTY: "staff",
    FeatureClass.STATIONS: "stations",
    FeatureClass.DOSES_ON_HAND: "doses",
}


def is_target(decision: Decision) -> bool:
    """Whether a decision's quantity is a state to reach rather than an amount to move."""
    return isinstance(decision, StationChange | SetPoint | PreCool)


def pinned_amount(lookup: StateLookup, pin: Decision) -> float:
    """How much of a pinned decision the plan must still hold: its quantity less what sites have promised or begun."""
    begun = 0 if is_target(pin) else sum(decision.quantity for decision in _begun(lookup, pin))
    return float(pin.quantity - begun)


def is_as_pinned_now(lookup: StateLookup, pin: Decision) -> bool:
    """Whether the state is already what a pinned target asks for."""
    site_idx = lookup.city.site_to_idx.get(acting_site_id(pin))
    if site_idx is None:
        return False
    if isinstance(pin, StationChange):
        stage_idx = STAGE_TO_IDX.get(pin.stage)
        return stage_idx is not None and lookup.open_now(site_idx, stage_idx) == pin.open_stations
    if isinstance(pin, SetPoint):
        row = lookup.fridge_row(site_idx, pin.fridge_id)
        return row is not None and bool(lookup.state.fridges.set_point_celsius.item(row) == pin.set_point_celsius)
    return False


def promised_already(lookup: StateLookup, pin: Decision) -> bool:
    """Whether acknowledged and begun orders already do all that a pin asks for."""
    if is_target(pin):
        return any(decision.quantity == pin.quantity for decision in _begun(lookup, pin))
    return pinned_amount(lookup, pin) <= 0


def most_of_override(lookup: StateLookup, wish: Decision) -> float:
    """How much of an overridden decision the plan may hold: what is left of it to be promised."""
    return max(0.0, pinned_amount(lookup, wish))


def _begun(lookup: StateLookup, pin: Decision) -> list[Decision]:
    commitments = lookup.state.commitments
    return [decision for decision in (*commitments.acknowledged, *commitments.under_way) if decision.key == pin.key]


def _closing_suspended(ledger: Ledger) -> set[int]:
    return {entry.position for entry in ledger.station_changes if is_closing_suspended(ledger, entry)}


def _recalling(ledger: Ledger) -> set[int]:
    """Positions that take a recalled lot out of use: a recall holds whatever a site or a freeze says."""
    return {entry.position for entry in ledger.markings if ledger.lookup.is_recalled(entry.lot_row)}


def _frozen_site(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    if not lookup.frozen:
        return
    recalling = _recalling(ledger)
    frozen_ids = {lookup.site_id(site_idx): lookup.name(site_idx) for site_idx in lookup.frozen}
    closing = _closing_suspended(ledger)
    for position in ledger.by_key.values():
        decision = ledger.decisions[position]
        for site_id in (acting_site_id(decision), expecting_site_id(decision)):
            if site_id in frozen_ids and position not in closing and position not in recalling:
                sentence = f"{frozen_ids[site_id]} is frozen: command wants it left as it is"
                yield Finding(site_id, sentence, 1.0, (position,))
                break


def _suspended_site(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    for site_idx in sorted(lookup.suspended):
        for stage_idx, stage in enumerate(STAGES):
            entry, after = ledger.stations.get((site_idx, stage_idx)), ledger.open_after(site_idx, stage_idx)
            if after:
                stations = counted(after, f"{stage} station")
                sentence = f"{lookup.name(site_idx)} is suspended: {stations} would be open, 0 may be"
                yield Finding(lookup.site_id(site_idx), sentence, after, (entry.position,) if entry else ())
    for position, site_idx, what in _coming(ledger) if lookup.suspended else ():
        if site_idx in lookup.suspended:
            sentence = f"{lookup.name(site_idx)} is suspended: {what} may be sent or offered there"
            yield Finding(lookup.site_id(site_idx), sentence, 1.0, (position,))


def _coming(ledger: Ledger) -> Iterator[tuple[int, int, str]]:
    """Position, receiving site and words of everything that brings somebody or something to a site."""
    for move in ledger.moves:
        yield move.position, move.to_idx, "no staff"
    for transfer in ledger.transfers:
        yield transfer.position, transfer.to_idx, "no doses"
    for send in ledger.sendings:
        yield send.position, send.to_idx, "no walk-ins"
    for slots in ledger.slot_changes:
        if isinstance(slots.decision, ReleaseSlots):
            yield slots.position, slots.site_idx, "no appointments"


def _pinned(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    for pin in lookup.state.commitments.pinned:
        position = ledger.by_key.get(pin.key)
        if promised_already(lookup, pin):
            continue
        if position is None:
            if is_as_pinned_now(lookup, pin):
                continue
            have, fits = "it is not in the plan", False
        else:
            quantity, needed = ledger.decisions[position].quantity, pinned_amount(lookup, pin)
            fits = quantity == needed if is_target(pin) else quantity >= needed
            have = f"the plan has {plain(quantity)} instead of {plain(needed)}"
        if not fits:
            sentence = f"pinned by command: {phrase(pin, lookup.city)[0]}; {have}"
            yield Finding(acting_site_id(pin), sentence, 1.0, () if position is None else (position,))


def _overridden(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    for wish in lookup.state.commitments.overridden:
        position = ledger.by_key.get(wish.key)
        if position is None or is_target(wish):
            continue
        quantity, most = ledger.decisions[position].quantity, most_of_override(lookup, wish)
        if quantity > most:
            sentence = f"command set the quantity: {phrase(wish, lookup.city)[0]}; the plan has {plain(quantity)}"
            yield Finding(acting_site_id(wish), sentence, 1.0, (position,))


def _recalled_lot(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    recalled = lookup.state.commitments.incidents.recalled_lots
    for entry in ledger.lot_entries if recalled else ():
        if entry.decision.lot_number in recalled:
            site_id = acting_site_id(entry.decision)
            sentence = f"lot {entry.decision.lot_number} is recalled: no dose of it may leave its fridge"
            yield Finding(site_id, sentence, 1.0, (entry.position,))


def quarantines(lookup: StateLookup) -> list[MarkUnusable]:
    """What a recall demands: every place where a recalled lot lies, less what sites have promised or begun already."""
    state, city = lookup.state, lookup.city
    if not state.commitments.incidents.recalled_lots:
        return []
    lots = state.lots
    begun = {one.key for one in (*state.commitments.acknowledged, *state.commitments.under_way)}
    marks = [
        MarkUnusable(
            site_id=lookup.site_id(int(lots.site_idx.item(row))),
            fridge_id=state.fridges.fridge_id[int(lots.fridge_row.item(row))],
            product_id=city.products[int(lots.product_idx.item(row))].product_id,
            lot_number=lots.lot_number[row],
            doses=int(lots.unopened_doses.item(row) + lots.open_vial_doses.item(row)),
            why=Why("recalled"),
        )
        for row in range(len(lots.lot_number))
        if lookup.is_recalled(row) and lots.fridge_row.item(row) >= 0
    ]
    return [mark for mark in marks if mark.doses > 0 and mark.key not in begun]


def _recall_out_of_use(ledger: Ledger) -> Iterator[Finding]:
    for mark in quarantines(ledger.lookup):
        position = ledger.by_key.get(mark.key)
        marked = 0 if position is None else ledger.decisions[position].quantity
        if marked < mark.doses:
            left = counted(mark.doses - marked, "dose")
            sentence = f"lot {mark.lot_number} is recalled: {left} at {mark.site_id} would stay in use"
            yield Finding(mark.site_id, sentence, 1.0, () if position is None else (position,))


def _failed_fridge(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    incidents = lookup.state.commitments.incidents
    for entry in ledger.lot_entries if incidents.failed_fridges or incidents.power_cut_site_ids else ():
        if lookup.is_failed(entry.to_fridge_row):
            fridges = lookup.state.fridges
            site_idx = int(fridges.site_idx.item(entry.to_fridge_row))
            fridge = called(fridges.fridge_id[entry.to_fridge_row], "fridge")
            sentence = f"{fridge} at {lookup.name(site_idx)} does not cool: nothing may be put into it"
            yield Finding(lookup.site_id(site_idx), sentence, 1.0, (entry.position,))


def _not_refused(ledger: Ledger) -> Iterator[Finding]:
    refused = {decision.key for decision in ledger.lookup.state.commitments.refused}
    closing = _closing_suspended(ledger) | _recalling(ledger) if refused else set()
    for key, position in ledger.by_key.items() if refused else ():
        if key not in refused or position in closing:
            continue
        decision = ledger.decisions[position]
        sentence = f"a site refused within the last hour to {phrase(decision, ledger.lookup.city)[0]}"
        yield Finding(acting_site_id(decision), sentence, 1.0, (position,))


def _readings_needed(ledger: Ledger) -> Iterator[tuple[int, int, FeatureClass]]:
    """Position, site and class of every reading that a decision rests on."""
    for move in ledger.moves:
        yield move.position, move.from_idx, FeatureClass.STAFF_ON_DUTY
        yield move.position, move.to_idx, FeatureClass.STAFF_ON_DUTY
    for entry in ledger.station_changes:
        if not is_closing_suspended(ledger, entry):
            yield entry.position, entry.site_idx, FeatureClass.STATIONS
    for transfer in ledger.transfers:
        yield transfer.position, transfer.from_idx, FeatureClass.DOSES_ON_HAND
        yield transfer.position, transfer.to_idx, FeatureClass.DOSES_ON_HAND
    for fridge_move in ledger.fridge_moves:
        yield fridge_move.position, fridge_move.from_idx, FeatureClass.DOSES_ON_HAND


def _fresh_readings(ledger: Ledger) -> Iterator[Finding]:
    lookup, most = ledger.lookup, ledger.lookup.limits.max_report_age_minutes
    oldest, valid = lookup.as_of_minutes - most, lookup.state.valid_epoch_minutes
    for position, site_idx, reading in _readings_needed(ledger):
        if not valid.item(site_idx, reading) >= oldest:
            age = lookup.age_minutes(site_idx, reading)
            old = "were never reported" if age != age else f"are {plain(age)} min old"
            readings = f"readings of {_WORDS_OF_CLASS[reading]} {old}"
            sentence = f"{lookup.name(site_idx)}: its {readings}, at most {plain(most)} min are allowed"
            yield Finding(lookup.site_id(site_idx), sentence, 1.0, (position,))


COMMAND_RULES = (
    Rule(
        name="frozen_site",
        hard=True,
        sentence="Nothing is ordered at, from or to a frozen site; closing a suspended one and a recall excepted.",
        sentence_zh="已冻结的接种点保持现状",
        reason="A person in command knows something that the reports do not say.",
        source="command",
        check=_frozen_site,
        each_alone=True,
    ),
    Rule(
        name="suspended_site",
        hard=True,
        sentence="At a suspended site every station known to be open closes, and nothing is sent or offered there.",
        sentence_zh="暂停的接种点须关闭全部台位，不得派人、调拨或放号",
        reason="Clusters of adverse events made 4 of 5 affected sites suspend vaccination.",
        source="CDC, anxiety-related clusters (PMC9368750)",
        check=_suspended_site,
    ),
    Rule(
        name="pinned",
        hard=True,
        sentence="Every pinned decision is in the plan with at least its quantity, or is done or promised already.",
        sentence_zh="指挥部指定的事项必须列入计划",
        reason="The last word is a person's.",
        source="command",
        check=_pinned,
    ),
    Rule(
        name="overridden",
        hard=True,
        sentence="Of a decision whose quantity a person has set the plan holds no more than that.",
        sentence_zh="指挥部改定的数量不得超过",
        reason="Who sets a quantity means that one, not a larger one that the next plan prefers.",
        source="command",
        check=_overridden,
    ),
    Rule(
        name="recalled_lot",
        hard=True,
        sentence="No dose of a recalled lot is moved, to another site or to another fridge.",
        sentence_zh="已召回批次不得调拨或移动",
        reason="What may have to go back must be found where it was last seen, and must reach nobody.",
        source="command; recall of the manufacturer or the regulator",
        check=_recalled_lot,
        each_alone=True,
    ),
    Rule(
        name="recall_out_of_use",
        hard=True,
        sentence="Wherever a recalled lot lies it is taken out of use, unless the site has promised that already.",
        sentence_zh="已召回批次须在各接种点停用并隔离",
        reason="A recall that waits for a planner's opinion is none.",
        source="command; recall of the manufacturer or the regulator",
        check=_recall_out_of_use,
    ),
    Rule(
        name="failed_fridge",
        hard=True,
        sentence="Nothing is put into a fridge that a playbook says has failed or is without power.",
        sentence_zh="已故障或停电的冰箱不得移入疫苗",
        reason="The sensor in it may still read well for an hour.",
        source="command",
        check=_failed_fridge,
        each_alone=True,
    ),
    Rule(
        name="not_refused",
        hard=True,
        sentence="What was refused within the hour is not asked again; closing a suspended site, a recall excepted.",
        sentence_zh="一小时内被拒绝的事项不再下达",
        reason="Asking again without a change teaches people to ignore orders.",
        source="receipts of the sites",
        check=_not_refused,
        each_alone=True,
    ),
    Rule(
        name="fresh_readings",
        hard=True,
        sentence="Readings that a decision rests on are at most `max_report_age_minutes` old at both ends.",
        sentence_zh="所依据的数据不得过旧",
        reason="Stale availability sends people and doses where they are not needed.",
        source=f"{OPERATING_LIMIT}; vaccinespotter 169, CoWIN 235",
        check=_fresh_readings,
        each_alone=True,
    ),
)
