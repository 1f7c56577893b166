"""
The nets, in torch: what is trained is what is exported.

Only operations that every engine takes: no stock message-passing layers, no NonZero, no scatter. Topology is an input,
so one net serves every city. Nothing here reads a state or a file; nothing that serves imports it.
"""
