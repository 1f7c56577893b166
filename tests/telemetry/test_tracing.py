"""Traces of a real cycle, in memory and over the wire; and that they cost nothing while they are off."""

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from doseflow.bootstrap import open_city, tracing
from doseflow.live.clocks import SimulatedClock
from doseflow.settings import Settings, StoreSettings, TracingSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.telemetry.stopwatch import Stopwatch
from doseflow.telemetry.tracing import span, tell_span, tracing_to

pytest.importorskip("opentelemetry.sdk", reason="NO OPENTELEMETRY HERE, so traces are NOT tested")


class Ticking:
    def __init__(self):
        self.seconds = 0.0

    def monotonic_seconds(self):
        self.seconds += 1
        return self.seconds


def in_memory():
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    return InMemorySpanExporter()


def play_one_cycle(settings, city, clock):
    with contextlib.closing(open_city(settings, clock=clock, city=city.city)) as opened:
        city.advance(5)
        clock.set(city.now)
        opened.live.submit(b"[" + b",".join(city.reports()) + b"]")
        return opened.live.run_cycle()


@pytest.fixture
def played(tmp_path):
    city = SimulatedCity.from_name("synthetic:3", seed=1)
    settings = Settings(store=StoreSettings(url=f"sqlite:///{tmp_path / 'traced.sqlite'}"))
    return settings, city, SimulatedClock(city.now)


def test_a_cycle_is_one_trace_whose_stages_are_its_children_in_their_order(played):
    exporter = in_memory()
    with tracing_to(exporter, "1"):
        cycle = play_one_cycle(*played)
    spans = exporter.get_finished_spans()
    (root,) = [each for each in spans if each.name == "cycle"]
    assert root.parent is None
    assert root.attributes["doseflow.cycle_id"] == cycle.cycle_id
    children = sorted((each for each in spans if each.parent is not None), key=lambda each: each.start_time)
    assert [each.name for each in children] == list(cycle.stage_milliseconds)
    assert {each.parent.span_id for each in children} == {root.context.span_id}
    for each in children:
        assert root.start_time <= each.start_time <= each.end_time <= root.end_time
    (reports,) = [each for each in spans if each.name == "reports"]
    assert reports.attributes["doseflow.accepted"] > 0


def test_spans_come_over_the_wire_to_a_collector_that_the_settings_name(played):
    bodies = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    settings, city, clock = played
    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        endpoint = f"http://127.0.0.1:{server.server_port}/v1/traces"
        settings = settings.model_copy(update={"tracing": TracingSettings(endpoint=endpoint)})
        with tracing(settings):
            cycle = play_one_cycle(settings, city, clock)
        server.shutdown()
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    names = []
    for path, body in bodies:
        assert path == "/v1/traces"
        sent = ExportTraceServiceRequest.FromString(body)
        for resource in sent.resource_spans:
            told = {one.key: one.value.string_value for one in resource.resource.attributes}
            assert told["service.name"] == "doseflow"
            names += [each.name for scope in resource.scope_spans for each in scope.spans]
    assert sorted(names) == sorted(["cycle", "reports", *cycle.stage_milliseconds])


def test_what_is_raised_inside_a_span_is_recorded_and_raised():
    exporter = in_memory()
    with tracing_to(exporter, "1"), pytest.raises(RuntimeError), span("cycle"):
        raise RuntimeError("the disk is full")
    (told,) = exporter.get_finished_spans()
    assert told.status.description == "RuntimeError: the disk is full"


def test_off_again_nothing_is_told_and_the_stopwatch_measures_as_before():
    exporter = in_memory()
    with tracing_to(exporter, "1"):
        pass
    stopwatch = Stopwatch(Ticking())
    with stopwatch.stage("state"), span("inner", sites=3):
        tell_span(late=True)
    assert stopwatch.stage_milliseconds == {"state": 1000.0}
    assert exporter.get_finished_spans() == ()


def test_a_collector_that_does_not_answer_stops_no_cycle(played):
    settings, city, clock = played
    settings = settings.model_copy(update={"tracing": TracingSettings(endpoint="http://127.0.0.1:9/v1/traces")})
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    with tracing_to(OTLPSpanExporter(endpoint=settings.tracing.endpoint, timeout=0.2), "1"):
        assert play_one_cycle(settings, city, clock).plan is not None
