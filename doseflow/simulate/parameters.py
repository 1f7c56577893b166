"""
Every figure that no data set gives, in one place: value, range worth sweeping, and where it comes from.

The same table stands in docs/reference/cities.md; a test keeps the two equal. Sources marked "assumed" are judgement.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

from doseflow.units import PERIOD_MINUTES

ASSUMED = "assumed"
HANLY = "Hanly et al. 2022, BMC Health Serv Res 22:1059 (hub model), assumed there"
WINTERTHUR = (
    "Winterthur vaccination centre, survey of over 10,000 visitors: 41 % come 20 min early or more, under 1 % late"
)
CZECH_SHORTFALL = (
    "doses short of bookings on Czech site-days, April to May 2021: 1.6 % (tools/fit_profiles.py), less those whose "
    "place a standby took; 2 % in Hanly et al., under 1 % (Denver) to 10 % (Santa Clara) and 20 %"
)
CDC_OBSERVATION = "CDC vaccine safety guidance: 15 min for all, 30 min with an allergy history"


class Source(NamedTuple):
    """Where a value comes from, and the range to sweep."""

    source: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SimulationParams:
    """What the simulator assumes; see `SOURCES` for each value's origin. Shares lie in 0..1."""

    step_minutes: float = 1.0
    registration_fixed_minutes: float = 3.0
    registration_random_minutes: float = 1.43
    screening_fixed_minutes: float = 2.0
    screening_random_minutes: float = 1.0
    vaccination_fixed_minutes: float = 3.0
    vaccination_random_minutes: float = 1.0
    observation_minutes: float = 15.0
    long_observation_minutes: float = 30.0
    long_observation_share: float = 0.05
    standing_share: float = 0.2
    no_show_share: float = 0.02
    early_mean_minutes: float = 18.2
    early_sd_minutes: float = 7.8
    walk_in_share: float = 0.08
    same_day_booking_share: float = 0.1
    slot_booking_mean_minutes: float = 180.0
    balk_from_minutes: float = 60.0
    balk_full_minutes: float = 240.0
    leave_after_minutes: float = 45.0
    leave_per_minute_share: float = 0.005
    planned_utilisation_share: float = 0.7
    roster_knows_share: float = 0.75
    staffing_mismatch_sd: float = 0.2
    absent_share: float = 0.03
    break_minutes: float = 30.0
    break_after_minutes: float = 180.0
    break_window_minutes: float = 120.0
    break_shift_minutes: float = 360.0
    overtime_minutes: float = 30.0
    fatigue_after_hours: float = 4.0
    fatigue_slowdown_share_per_hour: float = 0.01
    stock_days: float = 1.5
    stock_days_sd: float = 0.35
    ambient_celsius: float = 23.0
    cooling_minutes: float = 20.0
    warming_minutes: float = 987.0
    fridge_noise_celsius: float = 0.35
    door_kick_celsius: float = 0.05
    pre_cool_minutes: float = 120.0
    refusal_share: float = 0.03
    answer_minutes: float = 2.5
    leave_minutes: float = 7.0
    walk_in_follows_share: float = 0.8
    told_follows_share: float = 0.7

    def __post_init__(self) -> None:
        for item in fields(self):
            value, bound = getattr(self, item.name), SOURCES[item.name]
            if not bound.low <= value <= bound.high:
                raise ValueError(f"{item.name}: must lie in {bound.low:g}..{bound.high:g}, got {value}")
        self._check_together()

    def _check_together(self) -> None:
        steps = PERIOD_MINUTES / self.step_minutes
        if abs(steps - round(steps)) > 1e-9:
            raise ValueError(f"step_minutes: must divide {PERIOD_MINUTES} minutes evenly, got {self.step_minutes}")
        for stage in ("registration", "screening", "vaccination"):
            if getattr(self, f"{stage}_fixed_minutes") + getattr(self, f"{stage}_random_minutes") <= 0:
                raise ValueError(f"{stage}_fixed_minutes: must be above 0 together with {stage}_random_minutes, got 0")
        if self.balk_full_minutes <= self.balk_from_minutes:
            least = self.balk_from_minutes
            raise ValueError(
                f"balk_full_minutes: must be above balk_from_minutes ({least:g}), got {self.balk_full_minutes}"
            )
        if self.long_observation_minutes < self.observation_minutes:
            least = self.observation_minutes
            raise ValueError(
                f"long_observation_minutes: must be at least observation_minutes ({least:g}), "
                f"got {self.long_observation_minutes}"
            )


SOURCES: dict[str, Source] = {
    "step_minutes": Source("choice: one minute inside the five-minute decision period", 0.05, 1),
    "registration_fixed_minutes": Source(HANLY, 0, 10),
    "registration_random_minutes": Source(HANLY, 0, 10),
    "screening_fixed_minutes": Source(HANLY, 0, 10),
    "screening_random_minutes": Source(HANLY, 0, 10),
    "vaccination_fixed_minutes": Source(HANLY + "; 5.8 min at an NHS centre", 0, 10),
    "vaccination_random_minutes": Source(HANLY, 0, 10),
    "observation_minutes": Source(CDC_OBSERVATION, 0, 60),
    "long_observation_minutes": Source(CDC_OBSERVATION, 0, 60),
    "long_observation_share": Source(ASSUMED + ": share with an allergy history", 0, 0.2),
    "standing_share": Source(ASSUMED + ": people who may stand until a seat is free, share of seats", 0, 1),
    "no_show_share": Source(CZECH_SHORTFALL + "; mean over sites", 0, 0.4),
    "early_mean_minutes": Source(WINTERTHUR + "; normal through both points", -30, 60),
    "early_sd_minutes": Source(WINTERTHUR + "; normal through both points", 0, 60),
    "walk_in_share": Source(ASSUMED + ": no figure is published, so sweep the whole range; mean over sites", 0, 0.4),
    "same_day_booking_share": Source(ASSUMED + ": share of a day's slots still free at opening", 0, 0.5),
    "slot_booking_mean_minutes": Source(ASSUMED + ": mean time until an offered slot is booked", 1, 1000),
    "balk_from_minutes": Source(ASSUMED + ": expected wait from which people turn away at the door", 0, 1000),
    "balk_full_minutes": Source(ASSUMED + ": expected wait at which all turn away", 1, 100_000_000),
    "leave_after_minutes": Source(
        ASSUMED + ": wait at one stage from which people leave; nobody leaves above 120", 0, 100_000_000
    ),
    "leave_per_minute_share": Source(ASSUMED + ": share of those that leaves each minute", 0, 1),
    "planned_utilisation_share": Source(HANLY + ": at most 0.7, worse above 0.8", 0.3, 1.5),
    "roster_knows_share": Source(ASSUMED + ": weight of today's bookings against last week's in the roster", 0, 1),
    "staffing_mismatch_sd": Source(ASSUMED + ": log-normal error of a site's staffing", 0, 1),
    "absent_share": Source(ASSUMED + "; 18.1 % of staff missed work after their own dose (PMC9013647)", 0, 0.3),
    "break_minutes": Source("Czech labour code section 88: at least 30 min", 0, 60),
    "break_after_minutes": Source(ASSUMED + "; the law says at the latest after 6 h", 0, 360),
    "break_window_minutes": Source(ASSUMED + ": the breaks of a group start spread over this time", 1, 240),
    "break_shift_minutes": Source("Czech labour code section 88: shifts over 6 h have a break", 0, 720),
    "overtime_minutes": Source(ASSUMED + ": after closing, people inside are still served so long", 0, 240),
    "fatigue_after_hours": Source(ASSUMED + ": hours at work that leave no trace on service times", 0, 24),
    "fatigue_slowdown_share_per_hour": Source(ASSUMED + ": services last so much longer for each hour beyond", 0, 0.1),
    "stock_days": Source(ASSUMED + ": median stock in days of bookings at opening", 0, 10),
    "stock_days_sd": Source(ASSUMED + ": log-normal spread of it over sites", 0, 1),
    "ambient_celsius": Source(ASSUMED, -30, 50),
    "cooling_minutes": Source(ASSUMED + ": time constant of a running fridge", 1, 600),
    "warming_minutes": Source(
        "vendor: above 8 degrees within 3 h of an outage; time constant from 5 at 23 degrees", 10, 10_000
    ),
    "fridge_noise_celsius": Source("98.9 to 99.9 % of runtime in range (PMC8022346); standard deviation", 0, 3),
    "door_kick_celsius": Source(ASSUMED + ": warming of the air for each vial fetched", 0, 1),
    "pre_cool_minutes": Source(ASSUMED + ": how long a pre-cooled fridge is held there", 1, 1440),
    "refusal_share": Source(ASSUMED + ": orders a site refuses though it could", 0, 1),
    "answer_minutes": Source(ASSUMED + ": mean time to read and answer an order", 0, 60),
    "leave_minutes": Source(ASSUMED + ": mean time to finish with a person and set out", 0, 60),
    "walk_in_follows_share": Source(ASSUMED + ": walk-ins who go where they are sent", 0, 1),
    "told_follows_share": Source(ASSUMED + ": people who come at the time they are told", 0, 1),
}

ASSUMED_BY_ROSTER = ("planned_utilisation_share", "roster_knows_share", "staffing_mismatch_sd")
"""Parameters of the everyday roster, which mean nothing where a roster is made for a stated load."""
SEATS_PER_OBSERVER = 15
"""Assumed; seen 15 to 25 in published layouts."""


def fixed_service_minutes(params: SimulationParams) -> tuple[float, float, float]:
    """The part of a service that is the same for everybody, registration to vaccination."""
    return params.registration_fixed_minutes, params.screening_fixed_minutes, params.vaccination_fixed_minutes


def random_service_minutes(params: SimulationParams) -> tuple[float, float, float]:
    """Mean of the memoryless part of a service, registration to vaccination."""
    return params.registration_random_minutes, params.screening_random_minutes, params.vaccination_random_minutes


def mean_service_minutes(params: SimulationParams) -> tuple[float, float, float, float]:
    """Mean time of each stage, in `domain.roles` order; the last is the mean stay on a seat."""
    served = [f + r for f, r in zip(fixed_service_minutes(params), random_service_minutes(params), strict=True)]
    longer = params.long_observation_share * (params.long_observation_minutes - params.observation_minutes)
    return served[0], served[1], served[2], params.observation_minutes + longer
