"""The sites' side of the HTTP API: what a city's own system, or the demonstration, sends and fetches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx

from doseflow.errors import GatewayFailed

REPORTS_PATH = "/api/v1/reports"
ORDERS_PATH = "/api/v1/orders"
UPLOADS_PATH = "/api/v1/uploads"
MAX_ORDERS = 10_000
MAX_BODY_BYTES = 6 * 2**20
"""Below the 8 MiB that the doors take by default."""


@dataclass(frozen=True, slots=True)
class SendOutcome:
    """What became of a body of reports; `first_reason` is of the first refused one, empty when none was."""

    accepted: int
    refused: int
    first_reason: str = ""


class CityClient:
    """
    Sends reports, fetches orders, sends receipts. A refusal is an answer and is counted; no answer is a failure.

    Parameters
    ----------
    base_url
        Where the doors stand, for example `http://127.0.0.1:8080`.
    key
        API key of a machine, where the city asks who comes.
    transport
        Another way to reach them than the network; for tests.
    """

    def __init__(
        self,
        base_url: str,
        *,
        timeout_seconds: float = 30.0,
        transport: httpx.BaseTransport | None = None,
        key: str | None = None,
    ) -> None:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self._client = httpx.Client(base_url=base_url, timeout=timeout_seconds, transport=transport, headers=headers)
        self.counts: Counter[str] = Counter()
        """Since the client was opened: reports_accepted, reports_refused, receipts_accepted, receipts_refused."""

    def __enter__(self) -> CityClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def answers(self) -> bool:
        """Whether the city says that it is ready."""
        try:
            return self._client.get("/readyz").is_success
        except httpx.HTTPError:
            return False

    def send_reports(self, reports: Sequence[bytes]) -> SendOutcome:
        """
        Send reports as lists, each report as it is; what is refused of it is counted and not sent again.

        Raises
        ------
        GatewayFailed
            Nobody answered, or the other side failed: send them again.
        """
        outcomes = [self._send_body(part) for part in _parts(reports)]
        return SendOutcome(
            sum(outcome.accepted for outcome in outcomes),
            sum(outcome.refused for outcome in outcomes),
            next((outcome.first_reason for outcome in outcomes if outcome.first_reason), ""),
        )

    def send_table(self, data: bytes, name: str) -> dict[str, Any]:
        """
        Send a table of site reports, CSV or XLSX; the answer, with rows taken and refused.

        Raises
        ------
        GatewayFailed
            Nobody answered, the other side failed, or it refused the table as a whole.
        """
        headers = {"content-type": "application/octet-stream"}
        response = self._call("POST", UPLOADS_PATH, params={"name": name}, content=data, headers=headers)
        if not response.is_success:
            raise GatewayFailed(f"the table was refused: {_reason(response)}")
        return _json_object(response)

    def orders(self, states: Sequence[str] = ("sent",), site_id: str | None = None) -> list[dict[str, Any]]:
        """
        Orders in any of these states, of one site or of all.

        Raises
        ------
        GatewayFailed
            Nobody answered, or the answer is not a list of orders.
        """
        query: dict[str, Any] = {"state": list(states), "limit": MAX_ORDERS}
        if site_id is not None:
            query["site_id"] = site_id
        response = self._call("GET", ORDERS_PATH, params=query)
        if response.status_code != HTTPStatus.OK:
            raise GatewayFailed(f"orders: {response.status_code} {_reason(response)}")
        try:
            orders: list[dict[str, Any]] = response.json()["orders"]
        except (ValueError, KeyError, TypeError) as error:
            raise GatewayFailed("orders: the answer is not a list of orders") from error
        return orders

    def send_receipt(self, order_id: str, receipt: dict[str, Any]) -> bool:
        """
        Say what became of an order; False when the receipt is refused, since the order was withdrawn or has expired.

        Raises
        ------
        GatewayFailed
            Nobody answered, or the other side failed: send it again.
        """
        response = self._call("POST", f"{ORDERS_PATH}/{quote(order_id, safe='')}/receipts", json=receipt)
        self.counts["receipts_accepted" if response.is_success else "receipts_refused"] += 1
        return response.is_success

    def _send_body(self, reports: Sequence[bytes]) -> SendOutcome:
        body = b"[" + b",".join(reports) + b"]"
        response = self._call("POST", REPORTS_PATH, content=body, headers={"content-type": "application/json"})
        outcome = _outcome(response, len(reports))
        self.counts.update(reports_accepted=outcome.accepted, reports_refused=outcome.refused)
        return outcome

    def _call(self, method: str, path: str, **content: Any) -> httpx.Response:
        try:
            response = self._client.request(method, path, **content)
        except httpx.HTTPError as error:
            raise GatewayFailed(f"{method} {path}: no answer: {error or type(error).__name__}") from error
        if response.is_server_error:
            raise GatewayFailed(f"{method} {path}: {response.status_code} {_reason(response)}")
        return response


def _parts(reports: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """The reports in order, in parts that stay under the size the doors take."""
    start, size = 0, 0
    for position, report in enumerate(reports):
        if size + len(report) > MAX_BODY_BYTES and position > start:
            yield reports[start:position]
            start, size = position, 0
        size += len(report) + 1
    if start < len(reports):
        yield reports[start:]


def _outcome(response: httpx.Response, num_reports: int) -> SendOutcome:
    answer = _json_object(response)
    if response.is_success:
        return SendOutcome(num_reports, 0)
    # Of a list with bad reports the good ones are accepted; the problem says how many.
    accepted = answer.get("accepted")
    accepted = accepted if isinstance(accepted, int) else 0
    return SendOutcome(accepted, num_reports - accepted, _reason(response))


def _reason(response: httpx.Response) -> str:
    answer = _json_object(response)
    refused = answer.get("refused")
    if isinstance(refused, list) and refused and isinstance(refused[0], dict):
        return f"{refused[0].get('field')}: {refused[0].get('reason')}"
    return str(answer.get("detail") or response.reason_phrase)


def _json_object(response: httpx.Response) -> dict[str, Any]:
    try:
        answer = response.json()
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}
