"""
Evaluate: takes planners and scenarios, plays every day of them in a closed loop, gives figures with their intervals.

Planners meet the same days under the same rules, with no database and no network in between. It tunes nothing, and
knows no planner's inside: a planner is what `plan_once` takes.
"""
