"""
Gateways: one file an outside system. Each takes an outbox entry and tells it, or says in one sentence why it could not.

They keep nothing and try once; the outbox remembers and the relay tries again.
"""
