"""How logs look: a line an event on standard error, for people on a terminal and as JSON elsewhere."""

from __future__ import annotations

import sys

import structlog


def configure_logs() -> None:
    """Set the process's log form once, at its start."""
    # Plain tracebacks: drawing one with its variables took seconds, on the thread that answers.
    for_people = [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    for_machines = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *(for_people if sys.stderr.isatty() else for_machines),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
