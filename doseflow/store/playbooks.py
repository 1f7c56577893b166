"""Playbooks as kept: started once, ended once, never changed in between."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import orjson
from pydantic import TypeAdapter
from sqlalchemy import Connection, select, update

from doseflow.domain.commanding import Press
from doseflow.domain.playbooks import Playbook
from doseflow.errors import PlaybookNotFound
from doseflow.store.tables import playbooks as table

_ADAPTER = TypeAdapter(Playbook)
_RUNNING = select(table.c.content).where(table.c.ended_at.is_(None)).order_by(table.c.playbook_no)


def running_playbooks(connection: Connection) -> tuple[Playbook, ...]:
    """Those not ended, in the order in which they were started."""
    return tuple(_playbook(content) for content in connection.execute(_RUNNING).scalars())


def read_playbooks(connection: Connection, limit: int) -> list[Playbook]:
    """All, the latest first."""
    statement = select(table.c.content).order_by(table.c.playbook_no.desc()).limit(limit)
    return [_playbook(content) for content in connection.execute(statement).scalars()]


def insert_playbook(connection: Connection, playbook: Playbook, now: datetime) -> None:
    """Keep a playbook that is started now."""
    row = {"playbook_id": playbook.playbook_id, "content": _text(playbook), "started_at": now}
    connection.execute(table.insert(), row)


def end_playbook(connection: Connection, playbook_id: str, press: Press) -> tuple[Playbook, bool]:
    """
    End a playbook; it as it is then, and whether it was running.

    Raises
    ------
    PlaybookNotFound
    """
    content = connection.execute(
        select(table.c.content).where(table.c.playbook_id == playbook_id).with_for_update()
    ).scalar_one_or_none()
    if content is None:
        raise PlaybookNotFound(f"no playbook has the id {playbook_id!r}")
    playbook = _playbook(content)
    if playbook.ended_at is not None:
        return playbook, False
    ended = replace(playbook, ended_by=press.by, ended_at=press.at, end_reason=press.reason)
    connection.execute(
        update(table).where(table.c.playbook_id == playbook_id).values(content=_text(ended), ended_at=press.at)
    )
    return ended, True


def _text(playbook: Playbook) -> str:
    return _ADAPTER.dump_json(playbook).decode()


def _playbook(content: str) -> Playbook:
    return _ADAPTER.validate_python(orjson.loads(content))
