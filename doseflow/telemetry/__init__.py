"""Logs, metrics and the stopwatch: how the flow is watched. This room never changes what it watches."""
