"""Which other sites are near, and how long the way is: great circles, stretched to roads."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray, IntArray

EARTH_RADIUS_KM = 6371.0088
"""Mean radius of the Earth (IUGG)."""
HANDLING_MINUTES = 5.0
"""Getting away, parking and getting in, on top of the drive. Assumed."""
ROWS_AT_ONCE = 512


def nearest_neighbours(
    latitudes: FloatArray,
    longitudes: FloatArray,
    num_neighbours: int = 10,
    detour_factor: float = 1.3,
    speed_kmh: float = 45.0,
) -> tuple[IntArray, FloatArray]:
    """
    Nearest other sites and the travel to them.

    Parameters
    ----------
    latitudes, longitudes
        Degrees, (S,).
    detour_factor
        Road length over great-circle length, at least 1. The default is assumed.
    speed_kmh
        Mean speed on the road, above 0. The default is assumed.

    Returns
    -------
    neighbour_idx
        Positions of the nearest sites, (S, N), nearest first; -1 pads where there are fewer.
    neighbour_travel_minutes
        One-way travel with `HANDLING_MINUTES`, (S, N); NaN pads.

    Raises
    ------
    ValueError
        An argument is out of its range.
    """
    latitudes, longitudes = np.asarray(latitudes, dtype=np.float64), np.asarray(longitudes, dtype=np.float64)
    _check(latitudes, longitudes, num_neighbours, detour_factor, speed_kmh)
    num_sites = len(latitudes)
    width = min(num_neighbours, num_sites - 1)
    idx = np.full((num_sites, num_neighbours), -1, dtype=np.int64)
    minutes = np.full((num_sites, num_neighbours), np.nan)
    for start in range(0, num_sites if width else 0, ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        distance_km = great_circle_km(latitudes[rows, None], longitudes[rows, None], latitudes, longitudes)
        nearest = _nearest(distance_km, start, width)
        idx[rows, :width] = nearest
        road_km = np.take_along_axis(distance_km, nearest, axis=1) * detour_factor
        minutes[rows, :width] = road_km / speed_kmh * 60 + HANDLING_MINUTES
    return idx, minutes


def great_circle_km(
    from_latitude: FloatArray, from_longitude: FloatArray, to_latitude: FloatArray, to_longitude: FloatArray
) -> FloatArray:
    """
    Great-circle distance by the haversine formula; arguments in degrees, broadcast against each other.

    References
    ----------
    R. W. Sinnott (1984), "Virtues of the Haversine", Sky and Telescope 68(2), 159.
    """
    lat_1, lon_1, lat_2, lon_2 = (np.radians(one) for one in (from_latitude, from_longitude, to_latitude, to_longitude))
    haversine = np.sin((lat_2 - lat_1) / 2) ** 2 + np.cos(lat_1) * np.cos(lat_2) * np.sin((lon_2 - lon_1) / 2) ** 2
    distance_km: FloatArray = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.clip(haversine, 0.0, 1.0)))
    return distance_km


def _nearest(distance_km: FloatArray, first_site: int, width: int) -> IntArray:
    """Columns of the `width` smallest distances of each row but its own, nearest first, ties by position."""
    others_km = distance_km.copy()
    own = np.arange(len(others_km))
    others_km[own, own + first_site] = np.inf
    candidates = np.sort(np.argpartition(others_km, width - 1, axis=1)[:, :width], axis=1)
    order = np.argsort(np.take_along_axis(others_km, candidates, axis=1), axis=1, kind="stable")
    nearest: IntArray = np.take_along_axis(candidates, order, axis=1)
    return nearest


def _check(
    latitudes: FloatArray, longitudes: FloatArray, num_neighbours: int, detour_factor: float, speed_kmh: float
) -> None:
    if latitudes.ndim != 1 or latitudes.shape != longitudes.shape:
        raise ValueError(f"latitudes: must have the shape (sites,) of longitudes, got {latitudes.shape}")
    if not np.all(np.abs(latitudes) <= 90):
        raise ValueError("latitudes: must lie in -90..90")
    if not np.all(np.abs(longitudes) <= 180):
        raise ValueError("longitudes: must lie in -180..180")
    if num_neighbours < 1:
        raise ValueError(f"num_neighbours: must be at least 1, got {num_neighbours}")
    if detour_factor < 1:
        raise ValueError(f"detour_factor: must be at least 1, got {detour_factor}")
    if speed_kmh <= 0:
        raise ValueError(f"speed_kmh: must be above 0, got {speed_kmh}")
