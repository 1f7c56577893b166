"""StaticRoster: everybody stays where the roster put them. The line that every planner is measured by."""

from __future__ import annotations

import numpy as np

from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.plan import Proposal
from doseflow.domain.state import CityState
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.situation import survey
from doseflow.policy.station_rules import station_changes


class StaticRoster:
    """Opens the stations that there are people for, closes those that nobody staffs, and changes nothing else."""

    name = "static"

    def __call__(self, state: CityState, forecast: ArrivalForecast) -> Proposal:
        """Station changes alone."""
        situation = survey(state, forecast, NeedParams())
        return Proposal(self.name, tuple(station_changes(situation, (), np.inf)))
