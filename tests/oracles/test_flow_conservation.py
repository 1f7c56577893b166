"""Nobody appears, nobody is lost, and no free server lets anybody wait: under any staff, arrivals and limits."""

import numpy as np
from flow_days import NO_LIMIT, fifo_wait_steps, play, rules_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

STEPS, SITES, STAGES = 40, 2, 3


@st.composite
def days(draw):
    """Arrivals (T, 1, S), posts (T, 1, S, N), limits (T, 1, S), rules, seed."""
    arrivals = draw(arrays.arrays(np.int64, (STEPS, 1, SITES), elements=st.integers(0, 6)))
    posts = draw(arrays.arrays(np.int64, (STEPS, 1, SITES, STAGES), elements=st.integers(0, 5)))
    limits = draw(arrays.arrays(np.int64, (STEPS, 1, SITES), elements=st.sampled_from([-2, 0, 1, 3, NO_LIMIT])))
    minutes = draw(st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=2 * STAGES, max_size=2 * STAGES))
    share = draw(st.sampled_from([0.0, 0.1, 1.0]))
    rules = rules_of(
        1.0, minutes[:STAGES], minutes[STAGES:], observation=3, long=6, long_share=0.3, after=4, share=share
    )
    return arrivals, posts, limits, rules, draw(st.integers(0, 2**16))


def _played(day):
    arrivals, posts, limits, rules, seed = day
    return play(arrivals, posts, rules, seed=seed, needle_limit=lambda step, started: limits[step])


@settings(max_examples=60)
@given(days())
def test_everybody_is_accounted_for_at_every_step(day):
    played = _played(day)
    joined, started, left, served = (
        per_step.cumsum(0) for per_step in (played.joined, played.started, played.left, played.served)
    )
    np.testing.assert_array_equal(joined[..., 0], day[0].cumsum(0))
    np.testing.assert_array_equal(joined[..., 1:], served[..., :-1])
    np.testing.assert_array_equal(joined - started - left, played.queued)
    in_service, seated = started - served, served[..., -1] - played.finished.cumsum(0)
    assert min(played.queued.min(), in_service.min(), seated.min(), played.left.min(), played.started.min()) >= 0
    inside = day[0].cumsum(0) - left.sum(-1) - played.finished.cumsum(0)
    np.testing.assert_array_equal(played.queued.sum(-1) + in_service.sum(-1) + seated, inside)
    flow = played.flow
    np.testing.assert_array_equal(flow.joined, joined[-1])
    np.testing.assert_array_equal(flow.gone, (started + left)[-1])
    np.testing.assert_array_equal(flow.in_service, in_service[-1])
    np.testing.assert_array_equal(flow.seated, seated[-1])
    np.testing.assert_array_equal(flow.inside, inside[-1])


@settings(max_examples=60)
@given(days())
def test_no_more_work_than_posts_and_doses_allow_and_nobody_waits_for_a_free_server(day):
    played, (_, posts, limits, _, _) = _played(day), day
    in_service = (played.started - played.served).cumsum(0)
    carried_over = in_service - played.started
    assert np.all(in_service <= np.maximum(posts, carried_over))
    assert np.all(played.started[..., -1] <= np.maximum(limits, 0))
    waits_beside_a_free_server = (played.queued > 0) & (in_service < posts)
    assert not waits_beside_a_free_server[..., :-1].any()
    assert not (waits_beside_a_free_server[..., -1] & (played.started[..., -1] < limits)).any()


@settings(max_examples=60)
@given(days())
def test_only_people_who_waited_long_enough_give_up(day):
    played, rules = _played(day), day[3]
    joined, gone = played.joined.cumsum(0), (played.started + played.left).cumsum(0)
    after = rules.leave_after_steps
    gone_before = gone - played.started - played.left
    long_waiting = np.maximum(joined[: STEPS - after - 1] - gone_before[after + 1 :], 0)
    assert np.all(played.left[after + 1 :] <= long_waiting)
    if rules.leave_share_per_step == 0:
        assert played.left.sum() == 0
    if rules.leave_share_per_step == 1:
        for index in np.ndindex(joined.shape[1:]):
            waits = fifo_wait_steps(played.joined[:, *index], (played.started + played.left)[:, *index])
            assert waits.max(initial=0) <= after + 1


@settings(max_examples=30)
@given(days())
def test_the_same_seed_gives_the_same_day_and_nothing_given_is_changed(day):
    arrivals, posts = day[0].copy(), day[1].copy()
    first, second = _played(day), _played(day)
    np.testing.assert_array_equal(first.started, second.started)
    np.testing.assert_array_equal(first.waited_minutes, second.waited_minutes)
    np.testing.assert_array_equal(arrivals, day[0])
    np.testing.assert_array_equal(posts, day[1])
