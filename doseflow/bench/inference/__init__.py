"""
How fast each form of the nets answers, against the net as it was trained, in one run.

Every form has a process of its own, so that none disturbs another's threads and its memory can be told; they take
turns, round after round, so that a slow minute of the machine is everybody's. What is timed goes from arrays in host
memory to arrays in host memory.
"""
