"""HiGHS: the only file that knows the solver. A small programme in arrays goes in, a solution comes out or why not."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum

import highspy
import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.errors import ModelInvalid

_OPTIONS: dict[str, bool | int | float | str] = {
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
    "presolve": "off",  # it takes longer than solving a dozen columns
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 1e-6,
    # The heuristics below cost 10 ms even on five columns, and these programmes are solved at the root.
    "mip_heuristic_run_feasibility_jump": False,
    "mip_heuristic_effort": 0.0,
    "mip_detect_symmetry": False,
}
_OUT_OF_TIME = {
    highspy.HighsModelStatus.kTimeLimit,
    highspy.HighsModelStatus.kInterrupt,
    highspy.HighsModelStatus.kUnknown,
}
_IMPOSSIBLE = {
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kUnboundedOrInfeasible,  # every column is bounded
}


class NoSolution(Enum):
    """Why there is no solution: an answer, not an error."""

    IMPOSSIBLE = "impossible"
    OUT_OF_TIME = "out of time"


@dataclass(frozen=True, slots=True)
class Programme:
    """Minimise `costs @ x` under `lower <= x <= upper` and rows `sum <= bounds`, given row by row."""

    costs: FloatArray
    lower: FloatArray
    upper: FloatArray
    positions: IntArray
    coefficients: FloatArray
    starts: IntArray
    bounds: FloatArray


class _QuietHighs(highspy.Highs):
    """HiGHS that never writes to the standard output, where a command's own answer goes; and without callbacks."""

    def enableCallbacks(self) -> None:  # noqa: N802 - the library's name; its constructor calls it
        """Be silent before anything else: the first call of any other method prints a banner."""
        self.setOptionValue("output_flag", False)


class Solver:
    """
    One programme with one time limit, solved relaxed first and then, if need be, in whole numbers.

    The same programme gives the same solution, as long as it is found in time.
    """

    def __init__(self, programme: Programme, time_limit_seconds: float) -> None:
        self._until = time.perf_counter() + time_limit_seconds
        self._num_columns = len(programme.costs)
        self._highs = _QuietHighs()  # type: ignore[no-untyped-call]
        for name, value in _OPTIONS.items():
            self._must(self._highs.setOptionValue(name, value), f"the option {name}")
        self._must(self._highs.passModel(_as_highs(programme)), "the model")

    def relaxed(self) -> FloatArray | NoSolution:
        """The solution without asking for whole numbers."""
        return self._solve()

    def whole(self) -> FloatArray | NoSolution:
        """The solution in whole numbers."""
        columns = np.arange(self._num_columns, dtype=np.int32)
        kinds = np.full(self._num_columns, int(highspy.HighsVarType.kInteger), dtype=np.uint8)
        self._must(self._highs.setOptionValue("presolve", "choose"), "the option presolve")
        self._must(self._highs.changeColsIntegrality(self._num_columns, columns, kinds), "the whole columns")
        return self._solve()

    def _solve(self) -> FloatArray | NoSolution:
        seconds_left = self._until - time.perf_counter()
        if seconds_left <= 0:
            return NoSolution.OUT_OF_TIME
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + seconds_left)
        status = self._highs.run()
        outcome = self._highs.getModelStatus()
        if outcome == highspy.HighsModelStatus.kOptimal:
            return np.array(self._highs.getSolution().col_value)
        if outcome in _IMPOSSIBLE:
            return NoSolution.IMPOSSIBLE
        if outcome in _OUT_OF_TIME:
            return NoSolution.OUT_OF_TIME
        raise ModelInvalid(f"HiGHS ended with {outcome.name} and {status.name}")

    def _must(self, status: highspy.HighsStatus, what: str) -> None:
        if status != highspy.HighsStatus.kOk:
            raise ModelInvalid(f"HiGHS refused {what}: {status.name}")


def _as_highs(programme: Programme) -> highspy.HighsLp:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(programme.costs), len(programme.bounds)
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = programme.costs, programme.lower, programme.upper
    lp.row_lower_, lp.row_upper_ = np.full(len(programme.bounds), -np.inf), programme.bounds
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = programme.starts, programme.positions
    lp.a_matrix_.value_ = programme.coefficients
    return lp
