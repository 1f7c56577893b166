"""Rules about fridges: room, power and warmth for what comes in, settings that harm nothing, and what is wasted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from doseflow.feasible.entries import LotEntry, SettingEntry
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup
from doseflow.feasible.rule import ASSUMED, Finding, Rule
from doseflow.feasible.rules.doses import VOLUME_TOLERANCE_LITRES
from doseflow.feasible.words import called, plain


def room_litres(lookup: StateLookup, fridge_row: int) -> float:
    """Volume a fridge may still take, net of what leaves it: 0 where it is full or over-full, NaN where unknown."""
    fridges = lookup.state.fridges
    used = fridges.volume_used_litres.item(fridge_row) + lookup.promised_litres.get(fridge_row, 0.0)
    room = float(fridges.volume_possible_litres.item(fridge_row)) - used
    return room if math.isnan(room) else max(0.0, room)


def stored_products(lookup: StateLookup, entry: SettingEntry) -> set[int]:
    """Products whose band a setting must respect: those in the fridge, or for an empty one none."""
    return lookup.products_in_fridge(entry.site_idx, entry.fridge_row)


def suits_some_product(lookup: StateLookup, entry: SettingEntry) -> bool:
    """Whether a temperature suits at least one product that the site may store: what an empty fridge may be set to."""
    products = lookup.city.sites[entry.site_idx].products
    known = [
        lookup.city.product_to_idx[product_id] for product_id in products if product_id in lookup.city.product_to_idx
    ]
    return any(lookup.is_in_band(entry.celsius, product_idx) for product_idx in known)


def _fridge(ledger: Ledger, fridge_row: int) -> str:
    fridges = ledger.lookup.state.fridges
    site = ledger.lookup.name(int(fridges.site_idx.item(fridge_row)))
    return f"{called(fridges.fridge_id[fridge_row], 'fridge')} at {site}"


def _fridge_site_id(ledger: Ledger, fridge_row: int) -> str:
    return ledger.lookup.site_id(int(ledger.lookup.state.fridges.site_idx.item(fridge_row)))


def _litres(ledger: Ledger, entries: Sequence[LotEntry]) -> float:
    return sum(entry.doses * ledger.lookup.litres_per_dose(entry.product_idx) for entry in entries)


def _cold_volume(ledger: Ledger) -> Iterator[Finding]:
    for fridge_row, incoming in ledger.into_fridge.items():
        room = room_litres(ledger.lookup, fridge_row)
        positions = tuple(entry.position for entry in incoming)
        added = _litres(ledger, incoming) - _litres(ledger, ledger.out_of_fridge.get(fridge_row, []))
        if math.isnan(room):
            sentence, over = f"{_fridge(ledger, fridge_row)}: its free volume is unknown", _litres(ledger, incoming)
        elif added > room + VOLUME_TOLERANCE_LITRES:
            sentence = f"{_fridge(ledger, fridge_row)}: {added:.2f} litres more would come in, {room:.2f} are free"
            over = added - room
        else:
            continue
        yield Finding(_fridge_site_id(ledger, fridge_row), sentence, over, positions)


def _storage_band(ledger: Ledger) -> Iterator[Finding]:
    fridges = ledger.lookup.state.fridges
    for entry in ledger.lot_entries:
        row, product = entry.to_fridge_row, ledger.lookup.city.products[entry.product_idx]
        celsius, fridge = fridges.temperature_celsius.item(row), _fridge(ledger, row)
        if fridges.power_on.item(row) != 1:
            known = "its power is off" if fridges.power_on.item(row) == 0 else "nobody knows whether it has power"
            sentence = f"{fridge}: {known}"
        elif math.isnan(celsius):
            sentence = f"{fridge}: its temperature is unknown"
        elif not ledger.lookup.is_in_band(celsius, entry.product_idx):
            band = f"{plain(product.storage_low_celsius)} to {plain(product.storage_high_celsius)} °C"
            sentence = f"{fridge} is at {plain(celsius)} °C, {product.name} needs {band}"
        else:
            continue
        yield Finding(_fridge_site_id(ledger, row), sentence, 1.0, (entry.position,))


def _setting_in_band(ledger: Ledger, settings: Sequence[SettingEntry]) -> Iterator[Finding]:
    lookup = ledger.lookup
    for entry in settings:
        incoming = ledger.into_fridge.get(entry.fridge_row, [])
        inside = stored_products(lookup, entry)
        hurt = sorted(idx for idx in inside if not lookup.is_in_band(entry.celsius, idx))
        brought = [one for one in incoming if not lookup.is_in_band(entry.celsius, one.product_idx)]
        where = f"{_fridge(ledger, entry.fridge_row)} at {plain(entry.celsius)} °C"
        if hurt:
            sentence = f"{where}: outside the band of {lookup.city.products[hurt[0]].name}, which is stored there"
        elif brought:
            sentence = (
                f"{where}: outside the band of {lookup.city.products[brought[0].product_idx].name}, which comes in"
            )
        elif not inside and not suits_some_product(lookup, entry):
            sentence = f"{where}: outside the band of every product that the site may store"
        else:
            continue
        yield Finding(entry.decision.site_id, sentence, 1.0, (entry.position,))


def _set_point_in_band(ledger: Ledger) -> Iterator[Finding]:
    return _setting_in_band(ledger, ledger.set_points)


def _pre_cool_in_band(ledger: Ledger) -> Iterator[Finding]:
    return _setting_in_band(ledger, ledger.pre_cools)


def _unusable_only_when_spent(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    for mark in ledger.markings:
        if lookup.is_usable(mark.lot_row):
            where = f"lot {mark.decision.lot_number} at {lookup.name(mark.site_idx)}"
            sentence = f"{where} is neither known to be expired nor past its excursion budget"
            yield Finding(mark.decision.site_id, sentence, 1.0, (mark.position,))


def _fridge_move(ledger: Ledger) -> Iterator[Finding]:
    for entry in ledger.fridge_moves:
        if entry.from_fridge_row == entry.to_fridge_row:
            sentence = f"{_fridge(ledger, entry.from_fridge_row)}: the doses are to move into the fridge they are in"
            yield Finding(entry.decision.site_id, sentence, 1.0, (entry.position,))


COLD_CHAIN_RULES = (
    Rule(
        name="cold_volume",
        hard=True,
        sentence="What comes into a fridge, net of what leaves it, fits its free volume; a full one gets no fuller.",
        sentence_zh="移入冰箱的体积不得超过剩余容积",
        reason="An over-full fridge blocks its own air and warms up.",
        source="report class 16",
        check=_cold_volume,
        unit="litres",
    ),
    Rule(
        name="storage_band",
        hard=True,
        sentence="A receiving fridge is known to have power and to be within the product's storage band.",
        sentence_zh="接收冰箱须通电且温度在该产品储存范围内",
        reason="An unknown temperature is not a good one: sensors die, and dips under an hour never alarm.",
        source="product label; open-mSupply 3125, 3207",
        check=_storage_band,
        each_alone=True,
    ),
    Rule(
        name="set_point_in_band",
        hard=True,
        sentence="A set-point lies in the band of every product in the fridge and of every one that comes in.",
        sentence_zh="设定温度须在柜内所有产品储存范围内",
        reason="One setting must not spoil the neighbour on the same shelf; freezing harms as much as heat.",
        source="product label; Hanson 2017 (too-cold exposure)",
        check=_set_point_in_band,
    ),
    Rule(
        name="pre_cool_in_band",
        hard=True,
        sentence="A pre-cooling target lies in the band of every product in the fridge and of every one that comes in.",
        sentence_zh="预冷温度须在柜内所有产品储存范围内",
        reason="Cooling ahead of a power cut must not freeze what is inside.",
        source="product label; Hanson 2017 (too-cold exposure)",
        check=_pre_cool_in_band,
    ),
    Rule(
        name="unusable_only_when_spent",
        hard=True,
        sentence="Doses are taken out of use only when expired or past the product's excursion budget.",
        sentence_zh="仅过期或超温超限的疫苗方可停用",
        reason="Good doses must not be thrown away on a suspicion.",
        source="product label: storage excursions",
        check=_unusable_only_when_spent,
        each_alone=True,
    ),
    Rule(
        name="fridge_move",
        hard=True,
        sentence="A move between fridges ends in another fridge of the same site.",
        sentence_zh="须移至本接种点的另一台冰箱",
        reason="Within a site no van is needed; anything else is a transfer.",
        source=ASSUMED,
        check=_fridge_move,
        each_alone=True,
    ),
)
