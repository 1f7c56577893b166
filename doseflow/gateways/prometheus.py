"""
Asks a Prometheus what it has kept. The HTTP API is that of https://prometheus.io/docs/prometheus/latest/querying/api/,
of which only `query_range` is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx

from doseflow.errors import EnvironmentUnfit, InputWrong

TIMEOUT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Series:
    """One series of an answer: its labels, and its values at moments in seconds since 1970; none of them is NaN."""

    labels: Mapping[str, str]
    at_epoch_seconds: tuple[float, ...]
    values: tuple[float, ...]


class Prometheus:
    """A Prometheus at an address; close it after use."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._http = httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def range(self, expression: str, start: float, end: float, step_seconds: float) -> list[Series]:
        """
        Series of an expression from `start` to `end`, in seconds since 1970.

        Raises
        ------
        InputWrong
            Prometheus does not understand the expression.
        EnvironmentUnfit
            Nothing answers at the address, or it is no Prometheus.
        """
        asked: dict[str, str | float] = {"query": expression, "start": start, "end": end, "step": step_seconds}
        try:
            body = self._http.get("/api/v1/query_range", params=asked).json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise EnvironmentUnfit(f"no Prometheus answers at {self._url}: {error}") from error
        if not isinstance(body, dict) or "status" not in body:
            raise EnvironmentUnfit(f"what answers at {self._url} is no Prometheus")
        if body["status"] != "success":
            raise InputWrong(f"expr: {expression!r} is not understood: {body.get('error', '')}")
        series = (_series(each) for each in body["data"]["result"])
        return [each for each in series if each.values]


def _series(result: Mapping[str, Any]) -> Series:
    told = [(float(at), float(value)) for at, value in result["values"]]
    known = [(at, value) for at, value in told if math.isfinite(value)]
    labels = {name: value for name, value in result["metric"].items() if name != "__name__"}
    return Series(labels, tuple(at for at, _ in known), tuple(value for _, value in known))
