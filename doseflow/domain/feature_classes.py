"""The 17 classes of reading that a site reports; every class keeps its own three times and may be unknown."""

from __future__ import annotations

from enum import IntEnum


class FeatureClass(IntEnum):
    """Position of each class on the class axis (17); its number in the reporting guide is one more."""

    ARRIVALS = 0
    WAITING_BY_STAGE = 1
    OBSERVED_WAIT = 2
    BOOKED_AHEAD = 3
    NO_SHOW_AND_PUNCTUALITY = 4
    WALK_IN_SHARE = 5
    DOSES_GIVEN = 6
    DOSES_GIVEN_PAST_WEEKS = 7
    STAFF_ON_DUTY = 8
    FATIGUE = 9
    STATIONS = 10
    SEATS = 11
    DOSES_ON_HAND = 12
    LOT_EXPIRY = 13
    FRIDGES = 14
    COLD_VOLUME = 15
    PLACE_AND_CALENDAR = 16


NUM_FEATURE_CLASSES = len(FeatureClass)
SITE_SPEAKS = tuple(one for one in FeatureClass if one != FeatureClass.BOOKED_AHEAD)
"""Classes by which a site itself is heard: of its bookings another system may tell while the site is silent."""


class ReadingSource(IntEnum):
    """Where the value that the state holds came from; anything above REPORTED is shown as such."""

    REPORTED = 0
    CARRIED = 1
    """The last reading, older than one period."""
    ESTIMATED = 2
    """Not reported, estimated by the state room."""
    UNKNOWN = 3
