"""Real-time scheduling for a city's vaccination sites."""

__version__ = "0.1.0"
