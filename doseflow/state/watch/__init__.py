"""
The watch takes the state of each cycle and says which readings cannot well be true. It gives anomalies, one for each
cause, which last and end; it never changes a reading, and it decides nothing.

Every detector is a sequential test with a stated false-alarm rate (`params`). What a site's readings usually do is
learned as the cycles pass and kept in a `WatchState`, which is never written to; beginning again from nothing costs an
hour or so of learning.
"""

from doseflow.state.watch.params import WatchParams
from doseflow.state.watch.watch import watch
from doseflow.state.watch.watch_state import WatchState, first_watch

__all__ = ["WatchParams", "WatchState", "first_watch", "watch"]
