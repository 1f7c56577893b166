"""
Cold-chain loggers by WHO PQS E006/DS01: a transmission in, records of single loggers out.

It can tell temperatures, door, alarms, holdover and, from the supply and the compressor, power. It cannot tell what
lies in a fridge, and knows a fridge only by the serial of what is built into it. Forms that are read: the cce-interop
envelope (`meta`, `data`), one report or a list of them, and bare records.

Traps: ALRM, EERR and LERR must be there and may be null; a report may tell one moment in several records, one a sensor;
DORV, CMPR and SVA are seconds of the 15 minutes before ABST; HOLD is days; a logger with a solar panel has no SVA.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from doseflow.domain.report import FridgeReading, Power
from doseflow.errors import ReportMalformed, ReportRefused, ReportTooLarge
from doseflow.intake.cold_chain_codes import (
    ALARM_SYSTEM,
    CODE_TO_BOUNDS,
    KNOWN_ALARMS,
    KNOWN_CODES,
    LOGGER_ID_CODES,
    SYSTEM,
)
from doseflow.intake.json_text import parse_json
from doseflow.intake.refusal_sentences import got, shortened

MAX_RECORDS = 10_000
MAX_ALARMS = 16
MAX_ALARM_CHARACTERS = 40
MAX_ID_CHARACTERS = 100
MAX_UNKNOWN_CODES = 50
"""Unknown codes kept of one transmission."""
PERIOD_SECONDS = 900
HOURS_PER_DAY = 24
SECONDS_PER_MINUTE = 60

_ABST = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d):?(\d\d)(?:\.\d{1,9})?(Z|[+-]00:?00)")
_BETWEEN_CODES = re.compile(r"[\s,;|]+")


@dataclass(frozen=True, slots=True)
class LoggerRecord:
    """
    What a logger measured at one moment.

    `logger_ids` are its names, the most lasting first, empty where the record has none; `values` the codes as sent.
    """

    position: str
    logger_ids: tuple[str, ...]
    at: datetime
    values: Mapping[str, Any]

    @property
    def fridge_celsius(self) -> float | None:
        """Of the vaccine compartment."""
        return self.values.get("TVC")

    @property
    def freezer_celsius(self) -> float | None:
        """Of a freezer compartment."""
        return self.values.get("TFRZ")


@dataclass(frozen=True, slots=True)
class RefusedRecord:
    """A record that cannot be used, and why."""

    position: str
    logger_id: str | None
    error: ReportRefused
    raw: bytes


@dataclass(frozen=True, slots=True)
class UnknownElement:
    """A code that the standard does not list."""

    system: str
    code: str
    text: str


@dataclass(slots=True)
class ColdChainReading:
    """What a transmission holds; records of one logger and moment are one."""

    records: list[LoggerRecord] = field(default_factory=list)
    refused: list[RefusedRecord] = field(default_factory=list)
    unknown: list[UnknownElement] = field(default_factory=list)


def read_cold_chain(body: bytes, logger_id: str | None = None) -> ColdChainReading:
    """
    Read a transmission, unpacked.

    Parameters
    ----------
    logger_id
        Name of the logger, where the door knows it (a topic, an address); for records that name none.

    Raises
    ------
    ReportRefused
        It cannot be read at all; the text names the field `body`.
    """
    try:
        document = parse_json(body)
    except ValueError as error:
        raise ReportMalformed("body", str(error)) from error
    reading = ColdChainReading()
    by_key: dict[tuple[tuple[str, ...], datetime], LoggerRecord] = {}
    unknown: dict[tuple[str, str], UnknownElement] = {}
    given = () if logger_id is None else (logger_id[:MAX_ID_CHARACTERS],)
    for number, (position, ids, raw) in enumerate(_records(document, "", ()), start=1):
        if number > MAX_RECORDS:
            raise ReportTooLarge("body", f"must hold at most {MAX_RECORDS} records")
        try:
            record = _record(position, ids or given, raw)
        except ReportRefused as error:
            first = (ids or given or (None,))[0]
            reading.refused.append(RefusedRecord(position, first, error, _bytes_of(raw)))
            continue
        _note_unknown(record, raw, unknown)
        key = (record.logger_ids, record.at)
        earlier = by_key.get(key)
        if earlier is not None:
            record = LoggerRecord(earlier.position, earlier.logger_ids, earlier.at, _joined(earlier, record))
        by_key[key] = record
    if not by_key and not reading.refused:
        raise ReportMalformed("body", "must hold at least 1 record with an ABST")
    reading.records = sorted(by_key.values(), key=lambda one: one.at)
    reading.unknown = list(unknown.values())
    return reading


def fridge_reading(record: LoggerRecord, fridge_id: str, excursion_minutes: float | None) -> FridgeReading:
    """The vaccine compartment as a site would report it; what the record leaves out is unknown."""
    values = record.values
    return FridgeReading(
        fridge_id,
        temperature_celsius=record.fridge_celsius,
        excursion_minutes=excursion_minutes,
        power=_power(values),
        ambient_celsius=values.get("TAMB"),
        door_open=_door_open(values.get("IDRV"), values.get("DORV")),
        door_open_minutes=None if (open_for := values.get("DORV")) is None else open_for / SECONDS_PER_MINUTE,
        holdover_hours=None if (days := values.get("HOLD")) is None else days * HOURS_PER_DAY,
        alarms=values["alarms"],
    )


def freezer_reading(record: LoggerRecord, fridge_id: str, excursion_minutes: float | None) -> FridgeReading:
    """The freezer compartment, likewise."""
    values = record.values
    return FridgeReading(
        fridge_id,
        temperature_celsius=record.freezer_celsius,
        excursion_minutes=excursion_minutes,
        power=_power(values),
        ambient_celsius=values.get("TAMB"),
        door_open=_door_open(values.get("IDRF"), values.get("DORF")),
        door_open_minutes=None if (open_for := values.get("DORF")) is None else open_for / SECONDS_PER_MINUTE,
        alarms=values["alarms"],
    )


def _records(document: Any, position: str, ids: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Position, logger and record of everything in a document that is, or should be, a record."""
    if isinstance(document, list):
        for number, one in enumerate(document):
            yield from _records(one, f"{position}.{number}" if position else str(number), ids)
        return
    if isinstance(document, dict):
        ids = _logger_ids(document) or ids
        for name in ("data", "records"):
            if isinstance(document.get(name), list):
                yield from _records(document[name], f"{position}.{name}" if position else name, ids)
                return
    if position or (isinstance(document, dict) and "ABST" in document):
        yield position or "record", ids, document
        return
    raise ReportMalformed("body", f"must be a cold-chain transmission or records of one, got {got(document)}")


def _logger_ids(document: Mapping[str, Any]) -> tuple[str, ...]:
    ids = (document.get(code) for code in LOGGER_ID_CODES)
    return tuple(one.strip()[:MAX_ID_CHARACTERS] for one in ids if isinstance(one, str) and one.strip())


def _record(position: str, ids: tuple[str, ...], raw: Any) -> LoggerRecord:
    if not isinstance(raw, dict):
        raise ReportMalformed(position, f"must be a record, got {got(raw)}")
    at = _moment(position, raw.get("ABST"))
    values: dict[str, Any] = {}
    for code, (low, high) in CODE_TO_BOUNDS.items():
        value = _number(f"{position}.{code}", raw.get(code), low, high)
        if value is not None:
            values[code] = value
    if isinstance(raw.get("MSW"), bool):
        values["MSW"] = raw["MSW"]
    values["alarms"] = _alarms(raw)
    return LoggerRecord(position, ids, at, values)


def _moment(position: str, value: Any) -> datetime:
    match = _ABST.fullmatch(value) if isinstance(value, str) else None
    try:
        if match is not None:
            return datetime(*(int(part) for part in match.groups()[:6]), tzinfo=UTC)  # type: ignore[arg-type,misc]
    except ValueError:
        pass  # the 31st of June
    raise ReportMalformed(f"{position}.ABST", f"must be a moment in UTC such as 20260504T080000Z, got {got(value)}")


def _number(where: str, value: Any, low: float, high: float) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ReportMalformed(where, f"must be a number, got {got(value)}")
    if not low <= value <= high:
        raise ReportMalformed(where, f"must lie in {low:g}..{high:g}, got {got(value)}")
    return float(value)


def _alarms(raw: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Codes that stand, those of errors with their element in front; None where no such element is there at all."""
    if not any(code in raw for code in ("ALRM", "EERR", "LERR")):
        return None
    codes: list[str] = []
    for element, prefix in (("ALRM", ""), ("EERR", "EERR:"), ("LERR", "LERR:")):
        value = raw.get(element)
        told = value if isinstance(value, list) else [value]
        texts = [part for one in told if isinstance(one, str | int | float) for part in _BETWEEN_CODES.split(str(one))]
        codes += [shortened(f"{prefix}{one}")[:MAX_ALARM_CHARACTERS] for one in texts if one]
    return tuple(dict.fromkeys(codes))[:MAX_ALARMS]


def _power(values: Mapping[str, Any]) -> Power | None:
    """Whether the appliance has power; a supply that came and went within the period leaves it unknown."""
    if values.get("MSW") is False:
        return Power.OFF
    if values.get("CMPR") or values.get("SVA", 0.0) >= PERIOD_SECONDS:
        return Power.ON
    return Power.OFF if values.get("SVA") == 0.0 and not values.get("DCSV") else None


def _door_open(open_now_seconds: float | None, open_seconds: float | None) -> bool | None:
    if open_now_seconds is not None:
        return open_now_seconds > 0
    if open_seconds is None or 0 < open_seconds < PERIOD_SECONDS:
        return None
    return open_seconds > 0


def _joined(earlier: LoggerRecord, later: LoggerRecord) -> dict[str, Any]:
    codes = (*(earlier.values["alarms"] or ()), *(later.values["alarms"] or ()))
    is_told = earlier.values["alarms"] is not None or later.values["alarms"] is not None
    alarms = tuple(dict.fromkeys(codes))[:MAX_ALARMS] if is_told else None
    return {**later.values, **earlier.values, "alarms": alarms}


def _note_unknown(record: LoggerRecord, raw: Mapping[str, Any], unknown: dict[tuple[str, str], UnknownElement]) -> None:
    found = [UnknownElement(SYSTEM, code, f"such as {got(raw[code])}") for code in raw if code not in KNOWN_CODES]
    alarms = record.values["alarms"] or ()
    found += [UnknownElement(ALARM_SYSTEM, one, "") for one in alarms if ":" not in one and one not in KNOWN_ALARMS]
    for one in found:
        if len(unknown) < MAX_UNKNOWN_CODES:
            unknown.setdefault((one.system, one.code), one)


def _bytes_of(raw: Any) -> bytes:
    try:
        return orjson.dumps(raw)
    except TypeError:
        return b""
