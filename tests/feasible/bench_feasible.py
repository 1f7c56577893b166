"""
How long the feasible layer takes: `python tests/feasible/bench_feasible.py --sites 200 --decisions 120 --cycles 300`.

Prints milliseconds on the wall and of this thread's processor time (the one to read on a busy machine) for proposals
that need the solver, for the same ones trimmed instead, and for the plans that came out, which are allowed as they are.
`--untidy` takes states full of trouble and proposals that mostly collide.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from feasible_city import make_forecast, random_proposal, random_state, usual_proposal, usual_state

from doseflow.domain.plan import Infeasible, Proposal, RepairPath
from doseflow.feasible.layer import FeasibleLayer, FeasibleParams


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=200)
    parser.add_argument("--decisions", type=int, default=120)
    parser.add_argument("--cycles", type=int, default=300)
    parser.add_argument("--untidy", action="store_true")
    options = parser.parse_args()
    solver, trimmer = (
        FeasibleLayer(FeasibleParams(time_limit_milliseconds=1000)),
        FeasibleLayer(FeasibleParams(force_path=RepairPath.TRIMMED)),
    )
    taken: dict[str, list[tuple[float, float]]] = {}
    kept = []
    for seed in range(options.cycles):
        rng = np.random.default_rng(seed)
        state = (random_state if options.untidy else usual_state)(rng, options.sites)
        forecast = make_forecast(state)
        decisions = (random_proposal if options.untidy else usual_proposal)(rng, state, options.decisions)
        proposal = Proposal("bench", tuple(decisions))
        plan = timed(solver, state, forecast, proposal, taken)
        kept.append(len(plan.decisions))
        timed(trimmer, state, forecast, proposal, taken)
        allowed = Proposal("bench", tuple(planned.decision for planned in plan.decisions))
        timed(solver, state, forecast, allowed, taken)
    kept_on_average = sum(kept) / len(kept)
    lines = [f"{options.sites} sites, {options.decisions} decisions, of which {kept_on_average:.1f} kept on average"]
    for path, milliseconds in sorted(taken.items()):
        for clock, column in (("wall", 0), ("processor", 1)):
            p50, p95, p99 = np.percentile([pair[column] for pair in milliseconds], [50, 95, 99])
            lines.append(
                f"{path:10s} {clock:10s} n={len(milliseconds)} p50={p50:6.2f} p95={p95:6.2f} p99={p99:6.2f} ms"
            )
    sys.stdout.write("\n".join(lines) + "\n")


def timed(layer, state, forecast, proposal, taken):
    wall, processor = time.perf_counter(), time.thread_time()
    plan = layer(state, forecast, proposal)
    took = ((time.perf_counter() - wall) * 1000, (time.thread_time() - processor) * 1000)
    assert not isinstance(plan, Infeasible)
    taken.setdefault(plan.repair_path, []).append(took)
    return plan


if __name__ == "__main__":
    main()
