"""How sites may be other than they were seen, as after moves or on a worse day: a net is to know such sites too."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.roles import NUM_ROLES
from doseflow.policy.site_view import SiteView
from doseflow.policy.time_ahead import share_after

MOST_PEOPLE_OF_A_ROLE = 30.0


@dataclass(frozen=True)
class SiteChange:
    """
    One change of N sites.

    Parameters
    ----------
    arrivals_factor
        (N,).
    queue_people
        (R - 1, N).
    more_people, from_minutes
        By role, (R, N), and from when.
    least_places
        Places for people to work at that there are at least, (R, N).
    """

    arrivals_factor: FloatArray
    queue_people: FloatArray
    more_people: FloatArray
    from_minutes: FloatArray
    least_places: FloatArray

    def of(self, view: SiteView) -> SiteView:
        """The same sites, changed."""
        return replace(
            view,
            queue_people=self.queue_people,
            arriving_people=view.arriving_people * self.arrivals_factor,
            people=np.clip(_changed_people(view, self.more_people, self.from_minutes), 0.0, MOST_PEOPLE_OF_A_ROLE),
            most_people=np.maximum(view.most_people, self.least_places),
        )


def drawn_change(view: SiteView, rng: np.random.Generator) -> SiteChange:
    """Other queues, arrivals and people; places for those who are more in seven sites of ten."""
    num_sites = len(view.open_minutes)
    factor = np.exp(rng.normal(0, 0.3, num_sites))
    queue = view.queue_people * np.exp(rng.normal(0, 0.7, view.queue_people.shape))
    burst = rng.exponential(3.0, num_sites) * (rng.random(num_sites) < 0.4)
    more, start = np.empty((NUM_ROLES, num_sites)), np.empty((NUM_ROLES, num_sites))
    for role_idx in range(NUM_ROLES):
        more[role_idx] = rng.choice([-1, 0, 0, 1, 1], num_sites)
        start[role_idx] = rng.uniform(0, 60, num_sites)
    least_places = np.ceil(_changed_people(view, more, start).max(axis=0)) * (rng.random(num_sites) < 0.7)
    came = np.round(queue + rng.poisson(burst, view.queue_people.shape))
    return SiteChange(factor, came, more, start, least_places)


def _changed_people(view: SiteView, more_people: FloatArray, from_minutes: FloatArray) -> FloatArray:
    people = view.people.copy()
    for role_idx in range(NUM_ROLES):
        people[:, role_idx] += more_people[role_idx] * share_after(from_minutes[role_idx])
    return people
