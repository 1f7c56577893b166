"""
Traces of the flow by OpenTelemetry, where somebody has switched them on: `tracing.endpoint` in the settings, and the
optional libraries (`pip install 'doseflow[tracing]'`). Switched off, a span costs one comparison.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from doseflow.errors import EnvironmentUnfit

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Tracer

SERVICE_NAME = "doseflow"
_MISSING = "tracing.endpoint: needs the libraries of `pip install 'doseflow[tracing]'`; {} is missing"


class _Switch:
    """The process's tracer, None while traces are off."""

    tracer: Tracer | None = None


@contextmanager
def span(name: str, **attributes: str | int | float | bool) -> Iterator[None]:
    """A span of the flow; one inside another is its child. What is raised inside is recorded, and raised."""
    tracer = _Switch.tracer
    if tracer is None:
        yield
        return
    with tracer.start_as_current_span(name, attributes={f"doseflow.{key}": each for key, each in attributes.items()}):
        yield


def tell_span(**attributes: str | int | float | bool) -> None:
    """Add what is only known later to the span that is open; nothing where none is."""
    if _Switch.tracer is None:
        return
    from opentelemetry.trace import get_current_span

    get_current_span().set_attributes({f"doseflow.{key}": each for key, each in attributes.items()})


@contextmanager
def tracing_to(exporter: SpanExporter, version: str) -> Iterator[None]:
    """
    Traces on, sent in the background; when this ends they are off and everything is sent.

    An exporter that does not get through loses spans and nothing else.

    Raises
    ------
    EnvironmentUnfit
        The library is not installed.
    """
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise EnvironmentUnfit(_MISSING.format(error.name)) from error
    resource = Resource.create({"service.name": SERVICE_NAME, "service.version": version})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    _Switch.tracer = provider.get_tracer(SERVICE_NAME, version)
    try:
        yield
    finally:
        _Switch.tracer = None
        provider.shutdown()


def http_exporter(endpoint: str) -> SpanExporter:
    """
    An exporter to an OpenTelemetry collector, by OTLP over HTTP; `endpoint` is such as `http://127.0.0.1:4318/v1/traces`.

    Raises
    ------
    EnvironmentUnfit
        The library is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError as error:
        raise EnvironmentUnfit(_MISSING.format(error.name)) from error
    return OTLPSpanExporter(endpoint=endpoint)
