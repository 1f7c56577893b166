from dataclasses import replace

import numpy as np
import pytest

from doseflow.domain.orders import Commitments

DUE = 6.0


def show_day(watched, rng, rates, periods, **more):
    num_sites = watched.city.num_sites
    past = np.full((num_sites, 4, 24), DUE)
    for _ in range(periods):
        arrivals = rng.poisson(rates).astype(float)
        values = {"doses_given": np.full(num_sites, np.nan), "arrivals_past_weeks_people": past} | more
        watched.show(arrivals_people=arrivals, **values)


def test_a_site_that_sends_noughts_while_its_neighbours_are_busy_is_flagged(make_watched):
    watched, rng = make_watched(3), np.random.default_rng(1)
    show_day(watched, rng, [DUE] * 3, 12)
    show_day(watched, rng, [0.0, DUE, DUE], 12)
    assert [(one.site_id, str(one.kind)) for one in watched.anomalies] == [("s0", "out_of_step")]


@pytest.mark.parametrize("share", [0.5, 1.0, 3.0])
def test_half_of_what_is_due_and_more_is_in_step(share, make_watched):
    """At the discounted rate a CUSUM with this threshold flags once in 1 / chance periods (Lorden 1971)."""
    watched = make_watched(40)
    show_day(watched, np.random.default_rng(2), np.full(40, share * DUE), 280)
    assert not [one for one in watched.ever.values() if one.kind == "out_of_step"]


def test_a_suspended_site_is_not_out_of_step(make_watched):
    watched, rng = make_watched(3), np.random.default_rng(1)
    show_day(watched, rng, [0.0, DUE, DUE], 30, commitments=Commitments(suspended_site_ids=frozenset({"s0"})))
    assert not watched.ever


def test_a_closed_site_is_not_out_of_step(make_watched):
    watched, rng = make_watched(3), np.random.default_rng(1)
    state_of = watched.state
    watched.state = lambda **values: replace(state_of(**values), is_open=np.array([False, True, True]))
    show_day(watched, rng, [0.0, DUE, DUE], 30)
    assert not watched.ever
