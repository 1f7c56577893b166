"""Forms that take turns, round after round, each in its process."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from doseflow.bench.inference.forms import CITY, NETS, Form
from doseflow.bench.inference.worker import Failed, Ready, WorkerOrder, work

RUNS_PER_TURN = {1: 5, 8: 2, 32: 1}
"""Runs in a row by batch: enough that a form's caches are its own again after another's turn."""
Case = tuple[str, int]
"""Net, or both, and batch."""


@dataclass
class FormSamples:
    """What was measured of a form: latencies by case, memory in bytes; or why it cannot run here."""

    form: Form
    milliseconds: dict[Case, list[float]] = field(default_factory=dict)
    peak_bytes: int = 0
    device_bytes: int = 0
    failed: str | None = None


def take_turns(
    orders: Sequence[WorkerOrder], num_rounds: int, advance: Callable[[], None] = lambda: None
) -> list[FormSamples]:
    """Measure forms in turns; `advance` is called after every round."""
    samples = [FormSamples(order.form) for order in orders]
    with _processes(orders) as pipes:
        running = []
        for one, pipe in zip(samples, pipes, strict=True):
            told = _first_word(pipe)
            if isinstance(told, Failed):
                one.failed = told.reason
            elif isinstance(told, Ready):
                one.device_bytes = told.device_bytes
                running.append((one, pipe))
        cases = [(net, batch) for net in (*NETS, CITY) for batch in orders[0].batches]
        for _ in range(num_rounds):
            for case in cases:
                for one, pipe in running:
                    pipe.send((*case, RUNS_PER_TURN.get(case[1], 1)))
                    one.milliseconds.setdefault(case, []).extend(pipe.recv())
            advance()
        for one, pipe in running:
            pipe.send(None)
            one.peak_bytes = pipe.recv()
    return samples


def _first_word(pipe: Connection) -> Ready | Failed:
    try:
        told: Ready | Failed = pipe.recv()
    except EOFError:
        return Failed("its process ended while it was made ready")
    return told


@contextmanager
def _processes(orders: Sequence[WorkerOrder]) -> Iterator[list[Connection]]:
    """One process after the other, so that each can tell what it takes of the card's memory."""
    context = multiprocessing.get_context("spawn")
    processes, pipes = [], []
    try:
        for order in orders:
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(order, theirs), daemon=True)
            process.start()
            theirs.close()
            processes.append(process)
            pipes.append(ours)
            ours.poll(None)
        yield pipes
    finally:
        for process, pipe in zip(processes, pipes, strict=True):
            pipe.close()
            process.join(timeout=10)
            if process.is_alive():
                process.kill()
