"""
Reports in. This room takes bytes from outside and the city, and gives checked reports, receipts, cities and snapshots.

What it cannot take it refuses in one sentence that names the field and the bound. It keeps nothing, has no clock, and
never guesses: a value that is missing stays UNKNOWN.
"""
