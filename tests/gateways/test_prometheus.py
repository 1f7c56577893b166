import contextlib
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from doseflow.errors import EnvironmentUnfit, InputWrong
from doseflow.gateways.prometheus import Prometheus


@contextlib.contextmanager
def answering(body, status=200):
    """An address at which every question gets this body."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_values_that_are_no_numbers_are_left_out_and_so_are_series_without_any_other():
    result = [
        {"metric": {"__name__": "a", "stage": "store"}, "values": [[1, "2.5"], [2, "NaN"], [3, "+Inf"], [4, "4"]]},
        {"metric": {"stage": "read"}, "values": [[1, "NaN"]]},
    ]
    body = json.dumps({"status": "success", "data": {"result": result}}).encode()
    with answering(body) as url, Prometheus(url) as kept:
        (series,) = kept.range("a", 0, 4, 1)
    assert (series.labels, series.at_epoch_seconds, series.values) == ({"stage": "store"}, (1.0, 4.0), (2.5, 4.0))


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"hello": 1}'])
def test_what_answers_and_is_no_prometheus_is_said_so(body):
    with answering(body) as url, Prometheus(url) as kept, pytest.raises(EnvironmentUnfit, match="Prometheus"):
        kept.range("up", 0, 1, 1)


def test_an_expression_that_is_refused_is_named_with_the_reason():
    body = json.dumps({"status": "error", "errorType": "bad_data", "error": "unexpected end"}).encode()
    with answering(body, 400) as url, Prometheus(url) as kept, pytest.raises(InputWrong, match="unexpected end"):
        kept.range("rate(", 0, 1, 1)


def test_where_nothing_answers_it_is_said_so():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with Prometheus(f"http://127.0.0.1:{port}") as kept, pytest.raises(EnvironmentUnfit, match="no Prometheus answers"):
        kept.range("up", 0, 1, 1)
