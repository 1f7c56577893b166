"""
Reports become the state of the city. This room takes the previous state and new reports, and gives the next state.

What was not reported it carries, estimates where that is honest, and marks; what it cannot know stays UNKNOWN. It has
no clock and no I/O, decides nothing, and never writes to a state that is made.
"""
