"""Small history files as bytes."""

from collections.abc import Iterable
from datetime import datetime, timedelta


def file_of(rows: Iterable[str], header: str = "series_id,timestamp,value") -> bytes:
    return ("\n".join([header, *rows]) + "\n").encode()


def regular_rows(
    series_id: str = "a", num_rows: int = 24, step_minutes: int = 60, starts_at: str = "2024-03-01T00:00:00"
) -> list[str]:
    first = datetime.fromisoformat(starts_at)
    return [
        f"{series_id},{(first + idx * timedelta(minutes=step_minutes)).isoformat()},{idx % 7}"
        for idx in range(num_rows)
    ]
