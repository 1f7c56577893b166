"""The file of local users: names, hashes of passwords, roles, sites. Written whole, readable by its owner only."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from doseflow.access.grant import Grant
from doseflow.domain.caller import CallerRole
from doseflow.errors import EnvironmentUnfit, InputWrong, SettingsWrong, UserNotFound

NAME_FORM = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")


@dataclass(frozen=True, slots=True)
class LocalUser:
    """A person who signs in by a password of ours."""

    name: str
    password_hash: str
    grant: Grant


class UserFile:
    """
    Local users by name; a change of the file holds from the next request on.

    Raises
    ------
    SettingsWrong
        From every method, where the file cannot be read as users.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._users: dict[str, LocalUser] = {}

    def users(self) -> list[LocalUser]:
        """All of them, by name."""
        return sorted(self._read().values(), key=lambda user: user.name)

    def find(self, name: str) -> LocalUser | None:
        """The user of a name."""
        return self._read().get(name)

    def add(self, user: LocalUser) -> None:
        """
        Add a user.

        Raises
        ------
        InputWrong
            The name is taken or of a wrong form, or there are no roles.
        """
        if not NAME_FORM.fullmatch(user.name):
            raise InputWrong(f"name: must be 1 to 40 of a-z, 0-9, '.', '_' and '-', got {user.name!r}")
        if not user.grant.roles:
            raise InputWrong("roles: must be at least one, got none")
        with self._changing() as users:
            if user.name in users:
                raise InputWrong(f"name: {user.name} is there already; `doseflow users password` gives a new password")
            users[user.name] = user

    def change_password(self, name: str, password_hash: str) -> None:
        """
        Give a user another password.

        Raises
        ------
        UserNotFound
        """
        with self._changing() as users:
            users[name] = replace(_required(users, name), password_hash=password_hash)

    def remove(self, name: str) -> None:
        """
        Take a user out.

        Raises
        ------
        UserNotFound
        """
        with self._changing() as users:
            del users[_required(users, name).name]

    def _read(self) -> dict[str, LocalUser]:
        with self._lock:
            try:
                found = self._path.stat()
                stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
                if stamp != self._stamp:
                    self._users, self._stamp = _users_of(self._path.read_bytes()), stamp
            except FileNotFoundError:
                self._users, self._stamp = {}, None
            except OSError as error:
                raise SettingsWrong(f"sign_in.user_file: {self._path} cannot be read ({error.strerror})") from error
            except (KeyError, TypeError, ValueError) as error:
                raise SettingsWrong(f"sign_in.user_file: {self._path} is no file of users ({error})") from error
            return self._users

    def _changing(self) -> _Change:
        return _Change(self._path, dict(self._read()))


class _Change:
    """The users to change; written when the block ends well."""

    def __init__(self, path: Path, users: dict[str, LocalUser]) -> None:
        self._path = path
        self._users = users

    def __enter__(self) -> dict[str, LocalUser]:
        return self._users

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if kind is None:
            _write(self._path, _bytes_of(self._users))


def _required(users: dict[str, LocalUser], name: str) -> LocalUser:
    if name not in users:
        raise UserNotFound(f"name: there is no user {name!r}")
    return users[name]


def _users_of(content: bytes) -> dict[str, LocalUser]:
    return {row["name"]: _user_of(row) for row in orjson.loads(content)["users"]}


def _user_of(row: dict[str, Any]) -> LocalUser:
    site_ids = None if row["site_ids"] is None else tuple(map(str, row["site_ids"]))
    return LocalUser(row["name"], row["password_hash"], Grant(tuple(map(CallerRole, row["roles"])), site_ids))


def _bytes_of(users: dict[str, LocalUser]) -> bytes:
    rows = [
        {
            "name": user.name,
            "roles": list(user.grant.roles),
            "site_ids": user.grant.site_ids,
            "password_hash": user.password_hash,
        }
        for user in sorted(users.values(), key=lambda user: user.name)
    ]
    return orjson.dumps({"users": rows}, option=orjson.OPT_INDENT_2)


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # mkstemp makes it readable by its owner alone.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError as error:
        raise EnvironmentUnfit(f"sign_in.user_file: {path} cannot be written ({error.strerror})") from error
