"""
The store: takes reports, cycles, receipts and commands, gives them back after any restart.

One schema through SQLAlchemy Core, on SQLite or PostgreSQL. It decides nothing about the city, and whatever the driver
raises leaves this room as `StoreUnavailable`.
"""
