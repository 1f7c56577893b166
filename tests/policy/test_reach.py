"""Who is near whom."""

from dataclasses import replace

import numpy as np
from rules_city import city_of

from doseflow.policy.reach import Reach


def test_neighbours_come_nearest_first_in_each_direction_and_padding_is_nobody():
    city = replace(
        city_of(3),
        neighbour_idx=np.array([[1, 2], [0, 2], [1, -1]]),
        neighbour_travel_minutes=np.array([[30.0, 10.0], [5.0, 8.0], [8.0, np.nan]]),
    )
    reach = Reach(city)
    assert reach.from_site(0) == [(10.0, 2), (30.0, 1)]
    # Nobody lists the way from 2 to 0, so it is taken to be that from 0 to 2.
    assert reach.to_site(0) == [(5.0, 1), (10.0, 2)]
    assert reach.from_site(2) == [(8.0, 1)]
