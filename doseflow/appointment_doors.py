"""Opens the doors for appointments of other systems, as the settings say; all of them are off unless named."""

from __future__ import annotations

from pathlib import Path

from doseflow.gateways.mllp_listener import MllpListener
from doseflow.gateways.slot_publisher import SlotPublisher
from doseflow.intake.fhir_check import require_fhir_library
from doseflow.intake.site_places import SitePlaces
from doseflow.live.appointment_desk import AppointmentDesk
from doseflow.live.fhir_door import FhirDoor
from doseflow.live.hl7_door import Hl7Door
from doseflow.live.keyed_hash import open_keyed_hash
from doseflow.live.live_city import LiveCity
from doseflow.live.slot_feed import SlotFeed
from doseflow.settings import Settings
from doseflow.store.engine import Store


def open_appointments(live: LiveCity, store: Store, settings: Settings) -> None:
    """
    Give a living city its appointment desk, where a door for appointments is on.

    Raises
    ------
    SettingsWrong, EnvironmentUnfit, StoreUnavailable
    """
    params = settings.appointments
    if not (settings.fhir.is_on or settings.hl7.is_on or settings.slot_feeds.urls):
        return
    if settings.fhir.is_on or settings.slot_feeds.urls:
        require_fhir_library()
    desk = AppointmentDesk(
        store.appointments,
        store.reports,
        SitePlaces(live.city, params.locations, params.nearest_within_metres),
        live.clock,
        live.submit,
        open_keyed_hash(Path(params.key_file)),
        params,
    )
    live.appointments = desk
    live.before_cycle.append(lambda: live.metrics.reports_accepted.inc(desk.tell()))
    if settings.fhir.is_on:
        live.fhir_door = FhirDoor(desk)


def make_listener(live: LiveCity, settings: Settings) -> MllpListener | None:
    """The listener for HL7 v2 messages, None where it is not on."""
    if live.appointments is None or not settings.hl7.is_on:
        return None
    door = Hl7Door(live.appointments, live.city.timezone)
    return MllpListener(settings.hl7, door.answer, door.too_large)


def make_feeds(live: LiveCity, settings: Settings) -> list[SlotFeed]:
    """
    The publishers of slots to be polled.

    Raises
    ------
    SettingsWrong
    """
    if live.appointments is None:
        return []
    return [SlotFeed(SlotPublisher(url, settings.slot_feeds), live.appointments) for url in settings.slot_feeds.urls]
