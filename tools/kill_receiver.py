"""
A system that carries orders out, told by signed webhooks; `kill_trial.py` kills it at any moment.

    python tools/kill_receiver.py PORT FILE SECRET

What it did stands in FILE, a line each, synced to the disk before it answers. It knows a repeat by `webhook-id`, as
Standard Webhooks asks of a receiver, and carries out nothing twice.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from standardwebhooks import Webhook


def main(port: str, path: str, secret: str) -> None:
    verifier, lock, done = Webhook(secret), threading.Lock(), Path(path)
    done.touch()
    text = done.read_bytes()
    # A line that was cut off was not answered: it is not done.
    done.write_bytes(text[: text.rfind(b"\n") + 1])
    known = {json.loads(line)["id"] for line in done.read_text().splitlines()}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            told = verifier.verify(raw.decode(), headers)
            with lock, done.open("ab") as file:
                is_new = headers["webhook-id"] not in known
                if is_new:
                    known.add(headers["webhook-id"])
                    line = {"id": headers["webhook-id"], "type": told["type"], "order_id": told["data"]["order_id"]}
                    file.write(json.dumps(line).encode() + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
