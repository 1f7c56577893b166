"""
One pool of threads and one arena of memory for all nets of the process, instead of one of each a net.

Once a process shares, every session of it does: ONNX Runtime refuses sessions with threads of their own then.
"""

from __future__ import annotations

import threading

import onnxruntime  # type: ignore[import-untyped]

_lock = threading.Lock()
_num_threads: int | None = None


def share_threads_and_memory(num_threads: int) -> int:
    """
    Let all later sessions of the process use one pool and one arena.

    The first call decides: nets that answer one after the other need no more together than the largest alone.

    Returns
    -------
    int
        Threads of the pool.
    """
    global _num_threads  # noqa: PLW0603 - a process has one environment of ONNX Runtime
    with _lock:
        if _num_threads is None:
            onnxruntime.set_global_thread_pool_sizes(num_threads, 1)
            memory = onnxruntime.OrtMemoryInfo(
                "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
            )
            # Grown by what is asked for, not to the next power of two.
            arena = onnxruntime.OrtArenaCfg({"arena_extend_strategy": 1})
            onnxruntime.create_and_register_allocator(memory, arena)
            _num_threads = num_threads
        return _num_threads


def use_what_is_shared(options: onnxruntime.SessionOptions) -> bool:
    """Set a session's options for the shared pool and arena; False where the process does not share."""
    if _num_threads is None:
        return False
    options.use_per_session_threads = False
    options.add_session_config_entry("session.use_env_allocators", "1")
    return True
