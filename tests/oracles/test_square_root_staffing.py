"""The square-root rule against exact staffing by Erlang's formula."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doseflow.policy.queueing import erlang_c, fluid_queue_people, halfin_whitt_wait_share, square_root_team


def _exact_team(load, wait_share):
    """Fewest servers at which at most that share of the arrivals waits."""
    num_servers = math.floor(load) + 1
    while erlang_c(num_servers, load) > wait_share:
        num_servers += 1
    return num_servers


@pytest.mark.parametrize("beta", [0.5, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("load", [0.3, 0.8, 1.5, 3.0, 5.5, 9.0, 16.0, 30.0, 64.0, 120.0, 250.0])
def test_the_rule_is_within_two_servers_of_exact_staffing_for_the_same_wait(load, beta):
    by_rule = math.ceil(square_root_team(np.array(load), beta))
    assert abs(by_rule - _exact_team(load, halfin_whitt_wait_share(beta))) <= (1 if load < 50 else 2)


@pytest.mark.parametrize("load", [1.0, 4.0, 25.0, 100.0])
def test_at_beta_one_about_a_fifth_waits_whatever_the_load(load):
    team = math.ceil(square_root_team(np.array(load), 1.0))
    assert 0.1 < erlang_c(team, load) < 0.35


@given(
    queue=st.floats(0, 200),
    arrivals=st.lists(st.floats(0, 40), min_size=1, max_size=24),
    served=st.floats(0, 40),
)
def test_the_fluid_queue_is_what_comes_of_stepping_through_the_periods(queue, arrivals, served):
    stepped, waiting = [], queue
    for people in arrivals:
        waiting = max(0.0, waiting + people - served)
        stepped.append(waiting)
    ours = fluid_queue_people(np.array(queue), np.array(arrivals), np.array(served))
    assert ours == pytest.approx(np.array(stepped), abs=1e-6)
