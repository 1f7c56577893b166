"""
How well the watch finds faults: simulated days, faults put into the reports of some sites, and what was flagged.

The days are played once in a closed loop with true reports. Each is then read again, with and without faults; what is
flagged changes no plan, so the day stays the same.
"""
