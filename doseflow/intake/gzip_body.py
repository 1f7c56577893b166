"""A body that may be packed by gzip (RFC 1952), unpacked no further than a limit."""

from __future__ import annotations

import zlib

from doseflow.errors import ReportMalformed, ReportTooLarge

GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW = 31
"""`wbits` of zlib that means gzip with the largest window."""


def unpacked(body: bytes, max_bytes: int) -> bytes:
    """
    The body, unpacked where it is gzip; it is never held in more than `max_bytes` and one.

    Raises
    ------
    ReportTooLarge
        It unpacks to more than `max_bytes`.
    ReportMalformed
        It begins as gzip and is not.
    """
    if not body.startswith(GZIP_MAGIC):
        if len(body) > max_bytes:
            raise ReportTooLarge("body", f"must have at most {max_bytes} bytes, got {len(body)}")
        return body
    inflater = zlib.decompressobj(_GZIP_WINDOW)
    try:
        plain = inflater.decompress(body, max_bytes + 1)
    except zlib.error as error:
        raise ReportMalformed("body", f"must be whole gzip: {error}") from error
    if len(plain) > max_bytes:
        raise ReportTooLarge("body", f"must unpack to at most {max_bytes} bytes")
    if not inflater.eof:
        raise ReportMalformed("body", "must be whole gzip, it is cut off")
    return plain
