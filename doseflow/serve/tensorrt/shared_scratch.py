"""
Memory on the card that nets use while they run, one piece for all nets of the process.

They answer one after the other on one stream, so the largest of them needs no less alone.
"""

from __future__ import annotations

import threading
from functools import cache

from doseflow.serve.cuda_driver import CudaStream


class SharedScratch:
    """One stream, one piece of memory, and the lock that whoever uses them holds."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.stream = CudaStream()
        self.address = self.num_bytes = 0

    def reserve(self, num_bytes: int) -> None:
        """Make the piece at least so large; what was recorded with the old one must be recorded again."""
        with self.lock:
            if num_bytes <= self.num_bytes:
                return
            self.stream.use()
            self.stream.wait()
            if self.address:
                self.stream.free(self.address)
            self.address, self.num_bytes = self.stream.allocate(num_bytes), num_bytes


@cache
def scratch_of_process() -> SharedScratch:
    """
    The one of this process.

    Raises
    ------
    EngineUnfit
        There is no card.
    """
    return SharedScratch()
