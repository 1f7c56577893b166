"""
From findings to anomalies: one alarm a cause, which lasts and ends.

Arrivals, queues, doses and stock of a site hang together, so that one wrong count makes several tests speak: a site has
one open anomaly of these, and each fridge one; a logger that gets stuck with its site's counts has none of its own. The
first finding names it; later ones keep it open. It ends when nothing has spoken for it for `hold_minutes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from doseflow.domain.anomaly import Anomaly, AnomalyKind
from doseflow.domain.city import City
from doseflow.state.watch.findings import Finding
from doseflow.state.watch.fridge_readings import FridgeAxis
from doseflow.state.watch.params import WatchParams
from doseflow.state.watch.words import sentences
from doseflow.units import datetime_from_epoch_minutes, epoch_minutes_from_datetime

SAME_MOMENT_MINUTES = 10.0
_Cause = tuple[str, str | None]


def next_anomalies(
    previous: Sequence[Anomaly],
    findings: Iterable[Finding],
    city: City,
    axis: FridgeAxis,
    as_of_epoch_minutes: float,
    params: WatchParams,
) -> tuple[Anomaly, ...]:
    """
    The anomalies after a cycle: those that go on, those that end with it, those that begin.

    Parameters
    ----------
    findings
        The most telling ones first.
    """
    going = {_cause(one): one for one in previous if one.ended_at is None}
    seen: set[_Cause] = set()
    for finding in findings:
        fridge_id = axis.keys[finding.fridge][1] if finding.fridge >= 0 else None
        cause = (city.sites[finding.site_idx].site_id, fridge_id)
        if cause in seen or _is_of_site(finding, going.get((cause[0], None))):
            continue
        seen.add(cause)
        going[cause] = _seen_again(going.get(cause), cause, finding, as_of_epoch_minutes)
    return tuple(_ended(one, as_of_epoch_minutes, params) for one in going.values())


def _is_of_site(finding: Finding, of_site: Anomaly | None) -> bool:
    """Whether a logger got stuck together with the counts of its site: the whole report is, which is one cause."""
    if finding.kind is not AnomalyKind.LOGGER_STUCK or of_site is None:
        return False
    apart = abs(epoch_minutes_from_datetime(of_site.since_at) - finding.since)
    return of_site.kind is AnomalyKind.STUCK_READING and apart <= SAME_MOMENT_MINUTES


def _cause(anomaly: Anomaly) -> _Cause:
    return anomaly.site_id, anomaly.fridge_id


def _seen_again(known: Anomaly | None, cause: _Cause, finding: Finding, as_of: float) -> Anomaly:
    site_id, fridge_id = cause
    now_at = datetime_from_epoch_minutes(as_of)
    if known is not None and known.kind is not finding.kind:
        return replace(known, last_at=now_at)
    text_en, text_zh = sentences(finding.kind, finding.feature_class, fridge_id, finding.evidence)
    if known is not None:
        return replace(known, last_at=now_at, evidence=finding.evidence, text_en=text_en, text_zh=text_zh)
    seen = f"{round(as_of)}"
    return Anomaly(
        anomaly_id=":".join(filter(None, (site_id, fridge_id, str(finding.kind), seen))),
        site_id=site_id,
        fridge_id=fridge_id,
        kind=finding.kind,
        feature_class=finding.feature_class,
        since_at=datetime_from_epoch_minutes(finding.since),
        seen_at=now_at,
        last_at=now_at,
        ended_at=None,
        evidence=finding.evidence,
        text_en=text_en,
        text_zh=text_zh,
    )


def _ended(anomaly: Anomaly, as_of: float, params: WatchParams) -> Anomaly:
    quiet_minutes = as_of - epoch_minutes_from_datetime(anomaly.last_at)
    return replace(anomaly, ended_at=anomaly.last_at) if quiet_minutes > params.hold_minutes else anomaly
