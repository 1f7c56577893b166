"""
The vaccination hub of a published study, in Ciw and in the simulator's flow.

M. Hanly, T. Churches, O. Fitzgerald and others, Modelling vaccination capacity at mass vaccination hubs and general
practice clinics, BMC Health Services Research 22:1059 (2022), doi:10.1186/s12913-022-08447-8; parameters from the
code published with it. Bookings on every full hour of eight, all people of an hour at once; they come at a normal
distance from it, never before opening; doses are prepared from two hours before opening, an eighth of the day's every
hour; people walk between stations and queue at entrance, registration, assessment and vaccination.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

OPENING, HOURS = 120, 8
NO_SHOW_SHARE = 0.02
WALK_MINUTES = 0.5
STAGES = ("entrance", "registration", "assessment", "vaccination")
FIXED, RANDOM = (2.0, 3.0, 2.0, 3.0), (1.0, 1 / 0.7, 1.0, 1.0)
PREPARATION = (1.0, 1 / 3)
OBSERVATION, OBSERVATION_SD = 20.0, 0.5
ADVERSE_SHARE, ADVERSE_MEAN = 0.01, 10.0


@dataclass(frozen=True)
class Hub:
    """Staff (preparation, then the four stages), people booked every hour, spread of punctuality in minutes."""

    staff: tuple[int, int, int, int, int]
    booked: int
    punctuality_sd: float = 5.0


LOW, MEDIUM, HIGH = (2, 4, 6, 4, 5), (4, 8, 12, 8, 10), (6, 12, 18, 12, 15)
HUBS = {
    "low": Hub(LOW, 60),
    "medium": Hub(MEDIUM, 120),
    "high": Hub(HIGH, 180),
    "less punctual": Hub(MEDIUM, 120, 15.0),
    "130 an hour": Hub(MEDIUM, 130),
    "140 an hour": Hub(MEDIUM, 140),
    "150 an hour": Hub(MEDIUM, 150),
    "160 an hour": Hub(MEDIUM, 160),
    # Registration goes first, then vaccination, entrance and assessment.
    "one short": Hub((2, 4, 5, 4, 5), 60),
    "two short": Hub((2, 4, 5, 4, 4), 60),
    "three short": Hub((2, 3, 5, 4, 4), 60),
    "four short": Hub((2, 3, 5, 3, 4), 60),
}


def arrival_minutes(hub, seed):
    """When people come, (people,); minute 0 is the start of preparation."""
    rng = np.random.default_rng(seed)
    booked = np.repeat(OPENING + 60.0 * np.arange(HOURS), hub.booked)
    came = booked[rng.random(booked.size) >= NO_SHOW_SHARE]
    return np.sort(np.maximum(came + rng.normal(0, hub.punctuality_sd, came.size), OPENING))


def dose_minutes(num_people):
    """When each dose is handed to preparation, (people,)."""
    in_an_hour = -(-num_people // HOURS)
    return np.minimum(np.arange(num_people) // in_an_hour, HOURS - 1) * 60.0


@dataclass(frozen=True)
class HubDay:
    """A day in Ciw: waits by stage, (people,) each, all waiting and whole visit of each person, (people,)."""

    stage_waits: list[np.ndarray]
    waits: np.ndarray
    visits: np.ndarray
    dose_ahead_minutes: float
    """How long the dose with the least time to spare was ready before its use; above 0, nobody waits for one."""


def hub_day_in_ciw(ciw, hub, seed):
    """One day, person by person. Ciw cannot join a person and a dose: the doses queue beside, and must be ahead."""
    people = arrival_minutes(hub, seed)
    ciw.seed(seed)
    simulation = ciw.Simulation(_network(ciw, hub, people))
    simulation.simulate_until_max_time(1e5)
    records = [r for r in simulation.get_all_records() if r.node != 10]
    doses = np.sort([r.exit_date for r in simulation.get_all_records() if r.node == 10])
    stage_waits = [np.array([r.waiting_time for r in records if r.node == node]) for node in (1, 3, 5, 7)]
    ids = np.array([r.id_number for r in records])
    waits = np.bincount(ids, [r.waiting_time for r in records])
    visits = np.bincount(ids, [r.exit_date - r.arrival_date for r in records])
    came = np.unique(ids)
    to_vaccination = np.sort([r.arrival_date for r in records if r.node == 7])
    return HubDay(stage_waits, waits[came], visits[came], (to_vaccination - doses).min())


def _network(ciw, hub, people):
    """Nodes: the four stages with walks between and after, observation (9th), preparation (10th)."""
    d = ciw.dists
    walk = d.Exponential(1 / WALK_MINUTES)
    adverse = d.Deterministic(OBSERVATION) + d.Exponential(1 / ADVERSE_MEAN)
    seat = d.MixtureDistribution([d.Normal(OBSERVATION, OBSERVATION_SD), adverse], [1 - ADVERSE_SHARE, ADVERSE_SHARE])
    served = [d.Deterministic(f) + d.Exponential(1 / r) for f, r in zip(FIXED, RANDOM, strict=True)]
    prepared = d.Deterministic(PREPARATION[0]) + d.Exponential(1 / PREPARATION[1])
    route = np.eye(10, k=1)
    route[8] = 0
    return ciw.create_network(
        arrival_distributions=[_given(d, people), *[None] * 8, _given(d, dose_minutes(people.size))],
        service_distributions=[*(node for service in served for node in (service, walk)), seat, prepared],
        number_of_servers=[*(number for staff in hub.staff[1:] for number in (staff, inf)), inf, hub.staff[0]],
        routing=route.tolist(),
    )


def _given(dists, minutes):
    return dists.Sequential([*np.diff(minutes, prepend=0.0).tolist(), inf])
