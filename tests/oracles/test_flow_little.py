"""Little's law, path by path: the area under a queue is the waiting of the people who stood in it."""

import numpy as np
import pytest
from flow_days import fifo_wait_steps, play, rules_of


def _busy_day(*, leave_share, seed, step=1.0):
    rng = np.random.default_rng(seed)
    arrivals = rng.poisson(1.4, (900, 4, 3))
    arrivals[400:] = 0
    posts = np.array([5, 4, 6])
    rules = rules_of(step, [3.0, 2.0, 3.0], [1.43, 1.0, 1.0], after=15.0, share=leave_share)
    return play(arrivals, posts, rules, seed=seed)


@pytest.mark.parametrize("leave_share", [0.0, 0.1])
def test_area_under_the_queue_is_the_sum_of_the_waits_between_the_curves(leave_share):
    played = _busy_day(leave_share=leave_share, seed=3)
    assert played.queued[-1].sum() == 0
    assert (played.left.sum() > 0) == (leave_share > 0)
    for index in np.ndindex(played.queued.shape[1:]):
        joined, gone = played.joined[:, *index], (played.started + played.left)[:, *index]
        assert played.queued[:, *index].sum() == fifo_wait_steps(joined, gone).sum()


def test_reported_waits_are_the_area_less_what_is_handed_over_within_a_step():
    played = _busy_day(leave_share=0.0, seed=4)
    waited, area = played.waited_minutes.sum(0, dtype=float), played.queued.sum(0) * 1.0
    behind_somebody = (played.started * (played.queued > 0)).sum(0)
    assert np.all(waited <= area)
    assert np.all(waited >= area - played.started.sum(0))
    # A server falls free at any moment of a step, so each who waited for one began half a step before its end.
    assert area.sum() - waited.sum() == pytest.approx(0.5 * behind_somebody.sum(), rel=0.15)


def test_people_in_service_are_the_rate_of_starts_times_the_mean_service():
    rng = np.random.default_rng(6)
    played = play(
        rng.poisson(1.0, (1500, 40, 1)), np.array([9, 6, 8]), rules_of(1.0, [3.0, 2.0, 3.0], [1.43, 1.0, 1.0])
    )
    steady = slice(300, None)
    in_service = (played.started.cumsum(0) - played.served.cumsum(0))[steady].mean((0, 1, 2))
    rate = played.started[steady].mean((0, 1, 2))
    # A service ends in a step and is seen at its end, half a step late; most begin at the end of one.
    np.testing.assert_allclose(in_service, rate * np.array([4.43, 3.0, 4.0]), atol=0.5, rtol=0.02)


def test_everybody_sits_for_as_long_as_the_rules_say():
    played = _busy_day(leave_share=0.0, seed=7)
    np.testing.assert_array_equal(played.finished[15:], played.served[:-15, ..., -1])
    rng = np.random.default_rng(8)
    rules = rules_of(1.0, [3.0], [1.0], observation=15.0, long=30.0, long_share=0.05)
    longer = play(rng.poisson(2.0, (400, 200, 1)), np.array([12]), rules)
    waiting_on_seats = longer.served[..., 0].cumsum(0) - longer.finished.cumsum(0)
    in_steady_state = waiting_on_seats[100:].mean()
    assert in_steady_state == pytest.approx(longer.served[100:].mean() * (0.95 * 15 + 0.05 * 30), rel=0.01)


@pytest.mark.parametrize("step", [1.0, 0.5])
def test_servers_are_busy_for_exactly_as_long_as_they_serve(step):
    rng = np.random.default_rng(9)
    arrivals = rng.poisson(0.5 * step, (round(600 / step), 5, 2))
    arrivals[round(400 / step) :] = 0
    # Services of the same length for everybody: what is busy must be their number times that, to the second.
    played = play(arrivals, np.array([3, 2]), rules_of(step, [4.3, 2.7], [0.0, 0.0]))
    assert played.queued[-1].sum() == 0
    services = played.started.sum(axis=0)
    assert played.busy_minutes.sum(axis=0) == pytest.approx(services * np.array([4.3, 2.7]), rel=1e-5)
