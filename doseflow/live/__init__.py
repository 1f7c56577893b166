"""
The living city: takes reports, runs the cycle on its tick, hands orders out, takes receipts, tells the screens.

It joins the ports to the flow and knows no database, no web framework and no outside system of its own.
"""
