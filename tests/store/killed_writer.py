"""
Accepts reports and saves cycles without end, saying on standard output what was promised; somebody kills it.

    python killed_writer.py URL RUN
"""

from __future__ import annotations

import sys
from datetime import timedelta
from itertools import count

from store_samples import START, WHY, make_city, make_cycle, make_report

from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.domain.decisions import StationChange
from doseflow.domain.roles import Stage
from doseflow.store.engine import open_store

CITY = make_city()


def say(*words: str) -> None:
    print(*words, flush=True)  # noqa: T201 - the killer reads it


def main(url: str, run: str) -> None:
    store = open_store(url)
    store.plans.save_city(CITY)
    pending = store.reports.pending()
    say("ready")
    for step in count():
        sent = [make_report(f"site-{idx % 3:04d}", f"{run}-{step}-{idx}", START) for idx in range(6)]
        new = store.reports.accept([one for one, _ in sent], [raw for _, raw in sent])
        assert all(new)
        pending += [one for one, _ in sent]
        say("accepted", *(one.report.report_id or "" for one, _ in sent))
        decisions = tuple(
            StationChange(f"site-{site:04d}", Stage.VACCINATION, 1, (step + site) // 2 % 5, WHY) for site in range(3)
        )
        now = START + timedelta(seconds=step)
        standing = tuple(store.plans.orders(states=OPEN_STATES))
        cycle = make_cycle(CITY, f"{run}-{step}", decisions, as_of=now, open_orders=standing)
        store.plans.save_cycle(cycle, pending)
        say("saved", cycle.cycle_id, *(order.order_id for order in cycle.new_orders))
        store.plans.save_cycle(cycle, pending)
        pending = []
        due = store.outbox.due(now)
        store.outbox.mark_delivered([entry.entry_id for entry in due], now)
        say("told", *(str(entry.entry_id) for entry in due))


main(*sys.argv[1:])
