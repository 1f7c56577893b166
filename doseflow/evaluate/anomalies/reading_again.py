"""A recorded day read again: faults into the reports, reports through the door, the fold and the watch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from doseflow.domain.anomaly import Anomaly
from doseflow.domain.report import ReceivedReport
from doseflow.evaluate.anomalies.faults import Fault
from doseflow.evaluate.anomalies.recorded_day import Payload, RecordedDay, RecordedPeriod
from doseflow.intake.body import AcceptedItem, read_body
from doseflow.intake.params import IntakeParams
from doseflow.ports import QuarantinedReport
from doseflow.simulate.report_faults import HeldBack, ReportFaults, sent_reports, untold_classes
from doseflow.state.fold import fold
from doseflow.state.unknown import unknown_state
from doseflow.state.watch import WatchParams, first_watch, watch

SEED_OF_FATES = 7


def read_again(
    day: RecordedDay, faults: Sequence[Fault], report_faults: ReportFaults, *, seed: int, params: WatchParams
) -> list[Anomaly]:
    """
    Every anomaly of the day, in its last shape.

    Parameters
    ----------
    faults
        What is wrong with the readings.
    report_faults
        What goes wrong with the reports on their way; classes that a site never tells are left out too.
    """
    rng = np.random.default_rng([seed, SEED_OF_FATES])
    untold = untold_classes(day.city, report_faults)
    state = unknown_state(day.city, day.starts_at)
    learned = first_watch(state, params)
    found: dict[str, Anomaly] = {}
    held: tuple[HeldBack, ...] = ()
    known: set[tuple[str, str | None]] = set()
    for period in day.periods:
        payloads = _without(untold, _broken(period, faults))
        sent, held = sent_reports(payloads, held, rng, report_faults)
        taken = _accepted(day, period, sent, known)
        state = fold(state, taken, period.past_weeks_people, period.commitments, period.now)
        learned, anomalies = watch(learned, state, params)
        found.update((one.anomaly_id, one) for one in anomalies)
    return list(found.values())


def _broken(period: RecordedPeriod, faults: Sequence[Fault]) -> list[Payload]:
    payloads = list(period.payloads)
    for fault in faults:
        if fault.strikes(period.now):
            payloads[fault.site_idx] = fault.broken(payloads[fault.site_idx])
    return payloads


def _without(untold: dict[int, tuple[str, ...]], payloads: list[Payload]) -> list[Payload]:
    for site_idx, names in untold.items():
        payloads[site_idx] = {name: value for name, value in payloads[site_idx].items() if name not in names}
    return payloads


def _accepted(
    day: RecordedDay, period: RecordedPeriod, sent: list[bytes], known: set[tuple[str, str | None]]
) -> list[ReceivedReport]:
    """The reports that an intake would accept, each once."""
    items = read_body(b"[" + b",".join(sent) + b"]", day.city, period.now, IntakeParams(), _forget)
    accepted = [item.received for item in items if isinstance(item, AcceptedItem)]
    fresh = {(one.report.site_id, one.report.report_id): one for one in accepted}
    fresh = {key: one for key, one in fresh.items() if key not in known}
    known.update(fresh)
    return list(fresh.values())


def _forget(_refused: Iterable[QuarantinedReport]) -> None:
    """Nobody looks into the quarantine of a played day."""
