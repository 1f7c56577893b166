"""A long table of series, read onto one regular grid; the file of `doseflow forecast --history`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.series_table import SeriesTable
from doseflow.errors import HistoryWrong
from doseflow.intake.history_bounds import LEAST_KNOWN_VALUES, MOST_CELLS
from doseflow.intake.history_rows import HistoryRows, read_rows
from doseflow.intake.timestamp_form import TimestampForm

MINUTE_SECONDS = 60
_DAY_SECONDS = timedelta(days=1).total_seconds()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class History:
    """
    A history as it was understood.

    Parameters
    ----------
    last_step_idx
        Column of each series' last timestamp, (S,).
    forms
        How each series' last timestamp was written.
    ahead_of_moments
        How far the table's clock is ahead of the real moments of each series' last row: not 0 only where days are
        counted by local clocks that differ.
    num_rows
        Rows of the file.
    num_gaps
        Steps between a series' first and last timestamp that have no row.
    """

    table: SeriesTable
    last_step_idx: IntArray
    forms: tuple[TimestampForm, ...]
    ahead_of_moments: tuple[timedelta, ...]
    num_rows: int
    num_gaps: int

    def written(self, series: int, steps_ahead: int) -> str:
        """The timestamp so many steps after a series' last one, in the form of that one."""
        moment = self.table.at(int(self.last_step_idx[series])) - self.ahead_of_moments[series]
        return self.forms[series].write(moment + steps_ahead * timedelta(minutes=self.table.step_minutes))


def read_history(data: bytes, *, is_gzip: bool = False, advance: Callable[[int], None] = lambda _: None) -> History:
    """
    Read a history; steps without a row and empty values are unknown.

    Raises
    ------
    HistoryWrong
        The text names the line or the series, the field and the bound.
    """
    rows = read_rows(data, is_gzip=is_gzip, advance=advance)
    _refuse_mixed_zones(rows)
    series = np.asarray(rows.series_idx, dtype=np.int64)
    seconds = np.asarray(rows.seconds)
    order = np.lexsort((seconds, series))
    _refuse_repeats(rows, series, seconds, order)
    moments, seconds = seconds, _on_local_time(rows, series, seconds, order)
    step_seconds = _step_of(series[order], seconds[order])
    starts = float(seconds.min())
    _refuse_off_grid(rows, seconds, starts, step_seconds)
    columns = np.round((seconds - starts) / step_seconds).astype(np.int64)
    return _on_grid(rows, series, columns, starts, int(step_seconds // MINUTE_SECONDS), seconds - moments)


def _refuse_mixed_zones(rows: HistoryRows) -> None:
    first_text = rows.texts[0]
    is_aware = bool(rows.forms[first_text][1].zone)
    other = next((text for text, (_, form) in rows.forms.items() if bool(form.zone) != is_aware), None)
    if other is not None:
        raise HistoryWrong(
            f"--history, line {rows.lines[rows.texts.index(other)]}: timestamps must all have a zone or none, "
            f"got {other!r} and {first_text!r}"
        )


def _refuse_repeats(rows: HistoryRows, series: IntArray, seconds: FloatArray, order: IntArray) -> None:
    same = (np.diff(series[order]) == 0) & (np.diff(seconds[order]) == 0)
    if same.any():
        at = int(np.flatnonzero(same)[0])
        first, second = sorted((rows.lines[int(order[at])], rows.lines[int(order[at + 1])]))
        row = int(order[at])
        raise HistoryWrong(
            f"--history, line {second}: series {_name(rows, row)} has timestamp {rows.texts[row]} already, in line "
            f"{first}; a local hour that a clock change repeats needs its offset"
        )


def _name(rows: HistoryRows, row: int) -> str:
    return list(rows.series_ids)[rows.series_idx[row]]


def _on_local_time(rows: HistoryRows, series: IntArray, seconds: FloatArray, order: IntArray) -> FloatArray:
    """
    Days by the local clock where offsets make them 23 or 25 hours long, or differ between series; all else as it is.

    Each row then counts as if its local time were UTC plus the last row's offset. Rows that are whole days apart as the
    moments that they are need no such thing, nor do those that no local clock brings to one time of day.
    """
    offsets = {text: form.offset for text, (_, form) in rows.forms.items()}
    if len(set(offsets.values())) < 2 or not ((seconds - seconds[0]) % _DAY_SECONDS).any():
        return seconds
    gaps = np.diff(seconds[order])[np.diff(series[order]) == 0]
    if not len(gaps) or np.median(gaps) < timedelta(hours=23).total_seconds():
        return seconds
    by_clock = seconds + np.array([(offsets[text] or timedelta()).total_seconds() for text in rows.texts])
    if ((by_clock - by_clock[0]) % _DAY_SECONDS).any():
        return seconds
    newest = int(np.argmax(seconds))
    kept = offsets[rows.texts[newest]] or timedelta()
    # A date without a time has no offset: it is the kept clock's.
    own = {text: kept if offset is None else offset for text, offset in offsets.items()}
    moved = np.array([(own[text] - kept).total_seconds() for text in rows.texts])
    local: FloatArray = seconds + moved
    return local


def _step_of(series: IntArray, seconds: FloatArray) -> float:
    """The commonest gap between neighbouring timestamps of a series, the shortest of equally common ones."""
    gaps = np.diff(seconds)[np.diff(series) == 0]
    if not len(gaps):
        raise HistoryWrong("--history: too few rows, some series must have at least 2 timestamps")
    lengths, counts = np.unique(gaps, return_counts=True)
    step = float(lengths[np.argmax(counts)])
    if step % MINUTE_SECONDS:
        raise HistoryWrong(f"--history: the step must be a whole number of minutes, the commonest is {step:g} seconds")
    return step


def _refuse_off_grid(rows: HistoryRows, seconds: FloatArray, starts: float, step_seconds: float) -> None:
    off = np.flatnonzero((seconds - starts) % step_seconds)
    if len(off):
        # The anchor itself may be the odd one: judge by where most rows lie.
        phase = (seconds - starts) % step_seconds
        phases, counts = np.unique(phase, return_counts=True)
        row = int(np.flatnonzero(phase != phases[np.argmax(counts)])[0])
        raise HistoryWrong(
            f"--history, line {rows.lines[row]}: series {_name(rows, row)}, timestamp {rows.texts[row]} is not on the "
            f"table's regular step of {step_seconds / MINUTE_SECONDS:g} minutes"
            + ("; calendar months are no regular step" if step_seconds >= timedelta(days=28).total_seconds() else "")
        )


def _on_grid(
    rows: HistoryRows, series: IntArray, columns: IntArray, starts: float, step_minutes: int, ahead_seconds: FloatArray
) -> History:
    num_series, num_steps = len(rows.series_ids), int(columns.max()) + 1
    if num_series * num_steps > MOST_CELLS:
        raise HistoryWrong(
            f"--history: {num_series} series over {num_steps:,} steps of {step_minutes} minutes are more than "
            f"{MOST_CELLS:,} values"
        )
    values = _spread(rows.values, series, columns, num_series, num_steps)
    _refuse_too_little(rows, values)
    last = np.zeros(num_series, dtype=np.int64)
    np.maximum.at(last, series, columns)
    first = np.full(num_series, num_steps)
    np.minimum.at(first, series, columns)
    newest = np.flatnonzero(columns == last[series])
    forms = dict(zip(series[newest].tolist(), (rows.forms[rows.texts[row]][1] for row in newest), strict=True))
    ahead = dict(zip(series[newest].tolist(), ahead_seconds[newest].tolist(), strict=True))
    zone = rows.forms[rows.texts[int(np.argmax(columns))]][1].offset or timedelta()
    table = SeriesTable(
        series_ids=tuple(rows.series_ids),
        starts_at=_moment(starts, zone),
        step_minutes=step_minutes,
        values=values,
        latitude=_place(rows, "latitude", series, num_series),
        longitude=_place(rows, "longitude", series, num_series),
        covariates={
            name: _spread(column, series, columns, num_series, num_steps) for name, column in rows.covariates.items()
        },
    )
    num_gaps = int((last - first + 1).sum() - len(columns))
    return History(
        table=table,
        last_step_idx=last,
        forms=tuple(forms[idx] for idx in range(num_series)),
        ahead_of_moments=tuple(timedelta(seconds=ahead[idx]) for idx in range(num_series)),
        num_rows=len(columns),
        num_gaps=num_gaps,
    )


def _moment(seconds: float, zone: timedelta) -> datetime:
    return (_EPOCH + timedelta(seconds=seconds)).astimezone(timezone(zone))


def _spread(column: object, series: IntArray, columns: IntArray, num_series: int, num_steps: int) -> FloatArray:
    values = np.full((num_series, num_steps), np.nan)
    values[series, columns] = np.asarray(column)
    return values


def _refuse_too_little(rows: HistoryRows, values: FloatArray) -> None:
    known = np.isfinite(values).sum(axis=1)
    if not known.all():
        name = list(rows.series_ids)[int(np.flatnonzero(known == 0)[0])]
        raise HistoryWrong(f"--history: series {name} has no known value, at least 1 is needed")
    if known.max() < LEAST_KNOWN_VALUES:
        raise HistoryWrong(
            f"--history: too few values, some series must have at least {LEAST_KNOWN_VALUES}, the longest has "
            f"{known.max()}"
        )


def _place(rows: HistoryRows, name: str, series: IntArray, num_series: int) -> FloatArray:
    """The place that a series' rows tell; they may leave it out, and must not contradict each other."""
    place = np.full(num_series, np.nan)
    if name not in rows.places:
        return place
    told = np.asarray(rows.places[name])
    rows_told = np.flatnonzero(np.isfinite(told))
    place[series[rows_told[::-1]]] = told[rows_told[::-1]]
    differs = rows_told[told[rows_told] != place[series[rows_told]]]
    if len(differs):
        row = int(differs[0])
        raise HistoryWrong(
            f"--history, line {rows.lines[row]}: {name} of series {_name(rows, row)} must stay as it is, "
            f"got {told[row]:g} after {place[series[row]]:g}"
        )
    return place
