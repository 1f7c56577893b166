"""How much of the cold chain is at risk: fridges with doses in them outside their band."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.state import CityState
from doseflow.state.fridge_bands import degrees_outside_band


@dataclass(frozen=True, slots=True)
class ColdChainRisk:
    """Fridges outside their band that hold doses, and those doses; an unknown temperature counts for none."""

    num_fridges: int
    doses: int


def cold_chain_risk(state: CityState) -> ColdChainRisk:
    """How the cold chain stands."""
    lots, num_fridges = state.lots, len(state.fridges.fridge_id)
    is_in_fridge = lots.fridge_row >= 0
    doses = (lots.unopened_doses + lots.open_vial_doses)[is_in_fridge]
    doses_in = np.bincount(lots.fridge_row[is_in_fridge], weights=doses, minlength=num_fridges)
    is_at_risk = (np.nan_to_num(degrees_outside_band(state)) != 0) & (doses_in > 0)
    return ColdChainRisk(int(is_at_risk.sum()), int(doses_in[is_at_risk].sum()))
