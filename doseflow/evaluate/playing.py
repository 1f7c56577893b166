"""Many runs over many processes; each finished run is kept at once."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection

from doseflow.errors import EnvironmentUnfit
from doseflow.evaluate.run import Row, Run, play
from doseflow.settings import Settings

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
"""Libraries with threads of their own would take the cores from each other's processes."""


def play_all(runs: Sequence[Run], settings: Settings, code: str, workers: int, keep: Callable[[Row], None]) -> None:
    """
    Play runs over `workers` processes and hand each row to `keep` as soon as it is there.

    Raises
    ------
    EnvironmentUnfit
        A process died, for example for want of memory; what was kept stays kept.
    """
    os.environ.update(ONE_THREAD)
    context = multiprocessing.get_context("spawn")  # a forked process may hold a lock that nobody opens
    with ProcessPoolExecutor(max_workers=workers, mp_context=context, initializer=_begin_process) as pool:
        waiting = list(runs)[::-1]
        under_way: set[Future[Row]] = set()
        try:
            while waiting or under_way:
                while waiting and len(under_way) < 2 * workers:
                    under_way.add(pool.submit(play, waiting.pop(), settings, code))
                finished, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for one in finished:
                    keep(one.result())
        except BrokenProcessPool as error:
            raise EnvironmentUnfit(
                "a process died, perhaps for want of memory; start again with fewer --workers to go on"
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():  # a run may take minutes, and its row is lost anyway
                process.terminate()
            raise


def _begin_process() -> None:
    # A cycle makes and drops many small objects, and hardly a circle among them.
    gc.set_threshold(100_000, 50, 50)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Where the parent is killed nobody is left to end its processes, so each ends itself."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
