"""A site whose people are followed one by one, as an oracle for the balances."""

from __future__ import annotations

import numpy as np


class Street:
    """One queue, stations before the needle, seats: people come at random and nobody leaves unserved."""

    def __init__(self, seed: int, rate: float, posts: int) -> None:
        self.rng, self.rate, self.posts = np.random.default_rng(seed), rate, posts
        self.queue, self.at_stations, self.seated = 0, 0, 0

    def period(self) -> dict[str, np.ndarray]:
        arrivals, doses = 0, 0
        for _ in range(5):
            came = int(self.rng.poisson(self.rate / 5))
            served = int(self.rng.binomial(self.at_stations, 0.4))
            self.queue += came
            self.at_stations -= served
            taken = min(self.queue, self.posts - self.at_stations)
            self.queue -= taken
            self.at_stations += taken
            self.seated += served - int(self.rng.binomial(self.seated, 0.06))
            arrivals, doses = arrivals + came, doses + served
        return {
            "arrivals_people": np.array([float(arrivals)]),
            "waiting_people": np.array([[float(self.queue), 0.0, 0.0, float(self.seated)]]),
            "doses_given": np.array([float(doses)]),
            "observed_wait_minutes": np.array([0.0]),
            "stations_open": np.array([[float(self.posts), 0.0, 0.0, 1.0]]),
        }
