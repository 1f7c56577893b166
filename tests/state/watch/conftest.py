"""A watch over a small city."""

import pytest
from watched_city import PARAMS, Watched, city_of


@pytest.fixture
def make_watched():
    return lambda num_sites=3, fridges_each=1, params=PARAMS: Watched(city_of(num_sites, fridges_each), params)
