"""Presses of a button, each answered once: the same one again, after a lost connection, gets the same answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import orjson
from sqlalchemy import Connection, select

from doseflow.domain.commanding import Press
from doseflow.errors import CommandRefused
from doseflow.store.json_bytes import json_bytes
from doseflow.store.tables import presses as table


def once(connection: Connection, press: Press, wish: Any, deed: Callable[[], Any]) -> Any:
    """
    Do a deed, or give the answer of the first time where the client's key was used before.

    Call it with the turn of the audit log, so that two presses at the same moment come one after the other.

    Parameters
    ----------
    wish
        What is asked for, JSON-ready.
    deed
        Gives its answer, JSON-ready.

    Raises
    ------
    CommandRefused
        The key was used for something else.
    """
    if not press.client_key:
        return _plain(deed())
    digest = hashlib.sha256(json_bytes(wish)).hexdigest()
    key = (table.c.pressed_by == press.by) & (table.c.client_key == press.client_key)
    kept = connection.execute(select(table.c.wish_digest, table.c.answer).where(key)).one_or_none()
    if kept is not None:
        if kept.wish_digest != digest:
            raise CommandRefused(f"client_key: must be a new one, {press.client_key!r} was used for something else")
        return orjson.loads(kept.answer)
    answer = json_bytes(deed())
    row = {
        "pressed_by": press.by,
        "client_key": press.client_key,
        "wish_digest": digest,
        "answer": answer.decode(),
        "pressed_at": press.at,
    }
    connection.execute(table.insert(), row)
    return orjson.loads(answer)


def _plain(answer: Any) -> Any:
    return orjson.loads(json_bytes(answer))
