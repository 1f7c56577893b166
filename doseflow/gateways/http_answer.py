"""What an HTTP answer means for an order: taken, to be tried again, or refused for good (RFC 9110, section 15)."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from doseflow.errors import GatewayFailed, GatewayRefused

NOT_ABOUT_THE_ORDER = frozenset({401, 403, 404, 407, 408, 409, 421, 423, 425, 429})
"""Of the 4xx those that speak of the door, of who knocks or of the moment: what is told is not at fault."""


def no_answer(host: str, error: Exception) -> GatewayFailed:
    """The failure that nobody answered."""
    return GatewayFailed(f"{host} did not answer: {type(error).__name__} {error}".rstrip())


def require_taken(response: httpx.Response, host: str, said: str = "") -> None:
    """
    Pass an answer of 2xx on; `said` is what else the peer told, in one line.

    Raises
    ------
    GatewayRefused
        A 4xx that is about what was told.
    GatewayFailed
        Anything else.
    """
    if response.is_success:
        return
    text = f"{host} answered {response.status_code}" + (f": {said}" if said else "")
    if response.is_client_error and response.status_code not in NOT_ABOUT_THE_ORDER:
        raise GatewayRefused(text)
    raise GatewayFailed(text, retry_after_seconds(response.headers.get("retry-after"), datetime.now(UTC)))


def retry_after_seconds(header: str | None, now: datetime) -> float | None:
    """The header Retry-After, which is a number of seconds or a date (RFC 9110, section 10.2.3); None for neither."""
    if header is None:
        return None
    header = header.strip()
    if header.isascii() and header.isdigit() and len(header) < 10:
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, TypeError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
