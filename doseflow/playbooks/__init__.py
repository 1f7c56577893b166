"""
Playbooks: takes a declared incident and the state, gives what a person must know of it and the orders that fit.

It starts and ends nothing and forbids nothing: constraints are judged in `feasible`, which knows of this room nothing.
"""
