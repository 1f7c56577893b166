"""How logs look: a line an event on standard error, for people on a terminal, as JSON elsewhere; without secrets."""

from __future__ import annotations

import logging
import sys

import structlog

from doseflow.telemetry.scrubbing import ScrubbedLines, scrub_fields


def configure_logs() -> None:
    """Set the process's log form once, at its start."""
    # Plain tracebacks: drawing one with its variables took seconds, on the thread that answers, and showed secrets.
    for_people = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    for_machines = structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            scrub_fields,
            for_people if sys.stderr.isatty() else for_machines,
        ],
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    # Libraries log by the standard library, uvicorn among them.
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(ScrubbedLines("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[lines], level=logging.WARNING, force=True)
