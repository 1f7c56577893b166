"""The days of a scenario: those of its city, scaled, with the weeks before smaller where a campaign starts today."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np

from doseflow.domain.city import City, IntArray
from doseflow.simulate.city_days import CityDay, Days


class ScenarioDays:
    """
    Days of a city for a scenario; every appointment that is offered is booked, some of them only on the day.

    Parameters
    ----------
    load_scale
        Bookings over those of `days`.
    booking_factor
        Bookings of `day_on` over those of every other day.
    deliveries_days
        Deliveries of every site in days of its bookings; None leaves them as they are in `days`.
    """

    def __init__(
        self,
        city: City,
        days: Days,
        day_on: date,
        *,
        load_scale: float = 1.0,
        booking_factor: float = 1.0,
        deliveries_days: float | None = None,
    ) -> None:
        self._city, self._days, self._day_on = city, days, day_on
        self._scale, self._factor, self._deliveries_days = load_scale, booking_factor, deliveries_days

    def on(self, day_on: date) -> CityDay:
        """
        The day.

        Raises
        ------
        CityWrong
            The city has no such day.
        """
        day = self._days.on(day_on)
        scale = self._scale if day_on == self._day_on else self._scale / self._factor
        booked, used = _scaled(day.booked_people, scale), _scaled(day.used_doses, scale)
        delivered = _scaled(day.delivered_doses, scale)
        if self._deliveries_days is not None:
            delivered = self._regular(booked, used)
        return replace(day, capacity_people=booked, booked_people=booked, delivered_doses=delivered, used_doses=used)

    def _regular(self, booked: IntArray, used: IntArray) -> IntArray:
        """Deliveries of so many days of bookings, (S, K), by product as the site uses them; whole vials, rounded up."""
        may_hold = np.array([[p.product_id in site.products for p in self._city.products] for site in self._city.sites])
        by_product = np.where(may_hold, used, 0).astype(float)
        unknown = by_product.sum(axis=-1) == 0
        by_product[unknown, np.argmax(may_hold[unknown], axis=-1)] = 1
        doses = booked * (self._deliveries_days or 0.0)
        wanted = doses[:, None] * by_product / by_product.sum(axis=-1, keepdims=True) * may_hold
        per_vial = np.array([product.doses_per_vial for product in self._city.products])
        delivered: IntArray = (np.ceil(wanted / per_vial) * per_vial).astype(np.int64)
        return delivered


def _scaled(counts: IntArray, scale: float) -> IntArray:
    scaled: IntArray = np.rint(counts * scale).astype(np.int64)
    return scaled
