"""The nouns of the trade. This room takes nothing, does no I/O, and knows no net, solver, store or web."""
