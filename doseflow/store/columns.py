"""Column types that mean the same on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, Row, String, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

GrowingKey = BigInteger().with_variant(Integer, "sqlite")
"""A key that the database counts up; SQLite does that only for the type it calls INTEGER."""

AnyRow = Row[*tuple[Any, ...]]
"""A row whose columns are known by name only."""

ISO_LENGTH = 32
"""Characters of an ISO 8601 moment in UTC with microseconds."""


class Moment(TypeDecorator[datetime]):
    """
    An aware moment.

    `timestamptz` on PostgreSQL; on SQLite ISO 8601 text in UTC of fixed length, which sorts as the moments do and which
    a person can read.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Text on SQLite."""
        return String(ISO_LENGTH) if dialect.name == "sqlite" else DateTime(timezone=True)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """To the database; a moment without an offset from UTC is refused."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"moment: must have an offset from UTC, got {value.isoformat()}")
        return _iso_text(value) if dialect.name == "sqlite" else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """From the database, in UTC."""
        if value is None:
            return None
        return datetime.fromisoformat(value) if dialect.name == "sqlite" else value.astimezone(UTC)


@lru_cache(maxsize=4096)
def _iso_text(moment: datetime) -> str:
    # Remembered, since the rows of one transaction share their few moments.
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


class OutsideText(TypeDecorator[str]):
    """
    Text that somebody outside wrote.

    What no database keeps (NUL on PostgreSQL, half of a surrogate pair anywhere) becomes U+FFFD, so that one odd
    character cannot stop a transaction.
    """

    impl = Text
    cache_ok = True

    def __init__(self, length: int | None = None) -> None:
        super().__init__()
        self.length = length

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:  # noqa: ARG002 - same everywhere
        """Bounded text where a length is given."""
        return Text() if self.length is None else String(self.length)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - same everywhere
        """To the database."""
        return None if value is None else storable(value)


def storable(text: str) -> str:
    """The text with what no database keeps replaced by U+FFFD."""
    if not text.isascii():
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text.replace("\x00", "\ufffd")
