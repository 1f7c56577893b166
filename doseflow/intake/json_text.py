"""JSON in, with an error that says where it breaks."""

from __future__ import annotations

from typing import Any

import orjson

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def parse_json(data: bytes) -> Any:
    """
    Parse UTF-8 JSON; a byte-order mark in front is ignored (RFC 8259, section 8.1).

    Raises
    ------
    ValueError
        A clause naming the byte where the text stops being UTF-8 or JSON.
    """
    if data.startswith(BYTE_ORDER_MARK):
        data = b"   " + data[len(BYTE_ORDER_MARK) :]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"must be UTF-8, broken at byte {error.start} (0x{data[error.start]:02x})") from None
    if not text.strip():
        raise ValueError("must be JSON, got nothing")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        at_byte = len(text[: error.pos].encode("utf-8"))
        raise ValueError(f"must be JSON, broken at byte {at_byte}: {error.msg}") from None
