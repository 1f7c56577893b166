"""Prints what a span of a trace costs, switched off and on: `python tools/span_cost.py`."""

import time

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from doseflow.telemetry.tracing import span, tracing_to

NUM_SPANS = 20_000
NUM_ROUNDS = 5


def microseconds_a_span() -> float:
    """The fastest of a few rounds: the rest is what else the machine does."""
    rounds = []
    for _ in range(NUM_ROUNDS):
        began_seconds = time.perf_counter()
        for _ in range(NUM_SPANS):
            with span("stage"):
                pass
        rounds.append((time.perf_counter() - began_seconds) / NUM_SPANS * 1e6)
    return min(rounds)


print(f"off {microseconds_a_span():.2f} microseconds a span")
with tracing_to(InMemorySpanExporter(), "cost"):
    print(f"on {microseconds_a_span():.2f} microseconds a span")
