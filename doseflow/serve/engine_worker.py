"""
The other side of `engine_process`: opens one engine and answers one question at a time, until nobody is there to ask.

    python -m doseflow.serve.engine_worker CONNECTION ARRAYS PARENT
"""

from __future__ import annotations

import os
import sys
import threading
import time
from multiprocessing.connection import Connection

from doseflow.ports import Engine
from doseflow.serve.array_frame import ArrayFrame
from doseflow.serve.question import Answer, Question
from doseflow.telemetry.deadline import deadline_at

_LOOK_SECONDS = 1.0


def serve_engine(connection: Connection, frame: ArrayFrame) -> None:
    """Open the engine, say so, and answer; ends when the other side hangs up."""
    try:
        path: tuple[str, ...] = connection.recv()
        sys.path[:] = path
        engine = connection.recv()()
    except Exception as error:  # noqa: BLE001 - the boundary of the process: the other side raises it
        connection.send(Answer([], f"{type(error).__name__}: {error}"))
        return
    connection.send(Answer([]))
    while True:
        try:
            question: Question = connection.recv()
        except EOFError:
            return
        connection.send(_answer(engine, question, frame))


def _answer(engine: Engine, question: Question, frame: ArrayFrame) -> Answer:
    try:
        # An engine may give back what it was given, and `put` writes over that.
        with deadline_at(question.deadline):
            outputs = engine.run(frame.get(question.places, copies=False))
        return Answer(frame.put({name: array.copy() for name, array in outputs.items()}))
    except Exception as error:  # noqa: BLE001 - as above
        return Answer([], f"{type(error).__name__}: {error}")


def _end_with(parent: int) -> None:
    """End when the parent has: a hung engine does not notice that nobody waits any more."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def main() -> None:
    """Serve the engine that the parent process sends."""
    connection, arrays, parent = map(int, sys.argv[1:])
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    serve_engine(Connection(connection), ArrayFrame(arrays))


if __name__ == "__main__":
    main()
