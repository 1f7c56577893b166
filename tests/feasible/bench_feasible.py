"""
How long the feasible layer takes: `python tests/feasible/bench_feasible.py --sites 200 --decisions 120 --cycles 300`.

Prints milliseconds on the wall and of this thread's processor time (the one to read on a busy machine) for proposals
that need the solver, for the same ones trimmed instead, and for the plans that came out, which are allowed as they are;
and of the solver alone, relaxed and in whole numbers, with the columns that it was given. `--untidy` takes states full
of trouble and proposals that mostly collide.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from feasible_city import make_forecast, random_proposal, random_state, usual_proposal, usual_state

from doseflow.domain.plan import Infeasible, Proposal, RepairPath
from doseflow.feasible import nearest
from doseflow.feasible.highs import Solver
from doseflow.feasible.layer import FeasibleLayer, FeasibleParams
from doseflow.feasible.referee import referee

taken: dict[str, list[tuple[float, float]]] = {}
num_columns: list[int] = []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=200)
    parser.add_argument("--decisions", type=int, default=120)
    parser.add_argument("--cycles", type=int, default=300)
    parser.add_argument("--untidy", action="store_true")
    options = parser.parse_args()
    nearest.Solver = WatchedSolver
    make_state, make_proposal = (random_state, random_proposal) if options.untidy else (usual_state, usual_proposal)
    for seed in range(options.cycles):
        rng = np.random.default_rng(seed)
        state = make_state(rng, options.sites)
        run_cycle(state, make_proposal(rng, state, options.decisions))
    sys.stdout.write("\n".join(lines()) + "\n")


def run_cycle(state, decisions) -> None:
    forecast, proposal = make_forecast(state), Proposal("bench", tuple(decisions))
    solver = FeasibleLayer(FeasibleParams(time_limit_milliseconds=1000))
    trimmer = FeasibleLayer(FeasibleParams(force_path=RepairPath.TRIMMED))
    referee(state, forecast, decisions)  # builds the tables that a city makes once and keeps
    plan = timed_plan(solver, state, forecast, proposal)
    timed_plan(trimmer, state, forecast, proposal)
    timed_plan(solver, state, forecast, Proposal("bench", tuple(planned.decision for planned in plan.decisions)))


def timed_plan(layer, state, forecast, proposal):
    plan, took = timed(lambda: layer(state, forecast, proposal))
    assert not isinstance(plan, Infeasible)
    taken.setdefault(plan.repair_path, []).append(took)
    return plan


def timed(run: Callable):
    wall, processor = time.perf_counter(), time.thread_time()
    outcome = run()
    return outcome, ((time.perf_counter() - wall) * 1000, (time.thread_time() - processor) * 1000)


class WatchedSolver(Solver):
    """The solver with a stopwatch."""

    def __init__(self, programme, time_limit_seconds) -> None:
        num_columns.append(len(programme.costs))
        super().__init__(programme, time_limit_seconds)

    def relaxed(self):
        return self._timed("HiGHS relaxed", super().relaxed)

    def whole(self):
        return self._timed("HiGHS whole", super().whole)

    def _timed(self, name, run):
        outcome, took = timed(run)
        taken.setdefault(name, []).append(took)
        return outcome


def lines():
    for name, milliseconds in sorted(taken.items()):
        for clock, column in (("wall", 0), ("processor", 1)):
            p50, p95, p99 = np.percentile([pair[column] for pair in milliseconds], [50, 95, 99])
            yield f"{name:14s} {clock:10s} n={len(milliseconds)} p50={p50:6.2f} p95={p95:6.2f} p99={p99:6.2f} ms"
    yield f"columns given to the solver: {np.mean(num_columns):.1f} on average, {max(num_columns)} at most"


if __name__ == "__main__":
    main()
