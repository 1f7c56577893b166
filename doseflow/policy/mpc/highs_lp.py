"""HiGHS for linear programmes: sparse arrays go in, values come out, or why not."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from scipy.sparse import csc_matrix

from doseflow.domain.city import FloatArray
from doseflow.errors import ModelInvalid

_OPTIONS: dict[str, bool | int | float | str] = {
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
    "solver": "simplex",
    "presolve": "off",
}


@dataclass(frozen=True)
class LinearProgramme:
    """Minimise `costs @ x` under `lower <= x <= upper` and `row_lower <= matrix @ x <= row_upper`."""

    costs: FloatArray
    lower: FloatArray
    upper: FloatArray
    matrix: csc_matrix
    row_lower: FloatArray
    row_upper: FloatArray


@dataclass(frozen=True)
class LpAnswer:
    """`values` is None where the time limit came first; `status` is the solver's own word."""

    values: FloatArray | None
    objective: float
    status: str


class _QuietHighs(highspy.Highs):
    """HiGHS that never writes to the standard output, and without callbacks."""

    def enableCallbacks(self) -> None:  # noqa: N802 - the library's name; its constructor calls it
        """Be silent before anything else: the first call of any other method prints a banner."""
        self.setOptionValue("output_flag", False)


def solve(programme: LinearProgramme, time_limit_seconds: float, **options: bool | float | str) -> LpAnswer:
    """
    Solve; the same programme gives the same values, as long as they are found in time.

    Raises
    ------
    ModelInvalid
        The solver refuses the programme, or it has no solution: doing nothing always is one.
    """
    highs = _QuietHighs()  # type: ignore[no-untyped-call]
    for name, value in (_OPTIONS | options | {"time_limit": time_limit_seconds}).items():
        highs.setOptionValue(name, value)
    if highs.passModel(_as_highs(programme)) != highspy.HighsStatus.kOk:
        raise ModelInvalid("HiGHS refused the staffing programme")
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kOptimal:
        return LpAnswer(np.array(highs.getSolution().col_value), highs.getObjectiveValue(), status.name)
    if status in {highspy.HighsModelStatus.kTimeLimit, highspy.HighsModelStatus.kInterrupt}:
        return LpAnswer(None, np.nan, status.name)
    raise ModelInvalid(f"HiGHS ended the staffing programme with {status.name}")


def _as_highs(programme: LinearProgramme) -> highspy.HighsLp:
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = programme.matrix.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = programme.costs, programme.lower, programme.upper
    lp.row_lower_, lp.row_upper_ = programme.row_lower, programme.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = programme.matrix.indptr, programme.matrix.indices
    lp.a_matrix_.value_ = programme.matrix.data
    return lp
