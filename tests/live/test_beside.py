"""Work beside the cycles: nobody waits for it, none of it is lost in silence, and a failure ends nothing."""

import threading

from structlog.testing import capture_logs

from doseflow.live.beside import Beside


def test_pieces_are_done_one_after_another_and_those_too_many_are_counted():
    beside, may_go_on, done = Beside("test", max_waiting=2), threading.Event(), []
    began = threading.Event()

    def first():
        began.set()
        may_go_on.wait(10)
        done.append("first")

    assert beside.offer(first)
    assert began.wait(10)
    assert [beside.offer(lambda name=name: done.append(name)) for name in ("b", "c", "d")] == [True, True, False]
    assert (done, beside.num_left_out) == ([], 1)
    may_go_on.set()
    beside.settle()
    assert done == ["first", "b", "c"]


def test_a_piece_that_fails_is_recorded_and_the_next_is_done():
    beside, done = Beside("test"), []
    with capture_logs() as logs:
        beside.offer(lambda: 1 / 0)
        beside.offer(lambda: done.append(1))
        beside.settle()
    assert (done, beside.num_failed) == ([1], 1)
    assert [one["event"] for one in logs] == ["failed_beside"]


def test_what_waits_when_it_is_closed_is_still_done_and_then_the_thread_ends():
    beside, done = Beside("ending"), []
    beside.offer(lambda: done.append(1))
    (thread,) = (one for one in threading.enumerate() if one.name == "ending")
    beside.close()
    thread.join(10)
    assert (done, thread.is_alive()) == ([1], False)
