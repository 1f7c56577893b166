"""The demo: a simulated city that reports to the real system through its real doors, in one process."""
