"""The built pages of the room: what is served, and that it is what the sources build."""

from __future__ import annotations

import gzip
import re
import sys
from pathlib import Path

import pytest

from doseflow.web.room import ROOM_FOLDER

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))

from build_pages import NoNode, build_into, found_node, types_of  # noqa: E402
from write_openapi import openapi_text  # noqa: E402

API = REPOSITORY / "frontend" / "src" / "api"
PAGES = sorted(ROOM_FOLDER.glob("*.html"))


@pytest.mark.parametrize("path", ["/room/", "/room/orders", "/room/sites/some-site", "/room/sites/with.dot"])
def test_every_address_of_the_room_is_answered_by_its_page(quiet_client, path):
    answer = quiet_client.get(path)
    assert (answer.status_code, answer.content) == (200, (ROOM_FOLDER / "index.html").read_bytes())
    assert "'unsafe-inline'" not in answer.headers["content-security-policy"]


def test_the_site_head_has_a_page_of_their_own(quiet_client):
    assert quiet_client.get("/site/").content == (ROOM_FOLDER / "site.html").read_bytes()


@pytest.mark.parametrize("door", ["room", "site"])
def test_an_address_without_its_slash_leads_to_the_door(quiet_client, door):
    answer = quiet_client.get(f"/{door}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (308, f"/{door}/")


def test_files_are_packed_for_those_who_take_it_and_plain_for_others(quiet_client):
    plain = (ROOM_FOLDER / "room.js").read_bytes()
    packed = quiet_client.get("/room/room.js", headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(plain) / 2
    assert packed.content == plain
    unpacked = quiet_client.get("/room/room.js", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in unpacked.headers
    assert unpacked.content == plain
    assert packed.headers["etag"] != unpacked.headers["etag"]
    assert len(gzip.compress(plain)) > 0


def test_a_built_file_that_is_known_already_is_not_sent_again(quiet_client):
    first = quiet_client.get("/room/room.js")
    again = quiet_client.get("/room/room.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]


@pytest.mark.parametrize("path", ["/room/none.js", "/room/../app.py", "/room/%2e%2e/app.py", "/site/..%2f..%2fapp.py"])
def test_no_file_is_served_that_was_not_built(quiet_client, path):
    answer = quiet_client.get(path)
    assert answer.status_code == 404 or answer.content.startswith(b"<!doctype html>")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_built_page_has_no_inline_script_or_style(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\bon\w+=|\bstyle=", text) == []


def test_the_api_s_description_beside_the_pages_is_the_service_s_own():
    assert (API / "openapi.json").read_text(encoding="utf-8") == openapi_text(), "make api writes it anew"


def test_the_types_and_the_pages_are_what_their_sources_build(tmp_path):
    try:
        node = found_node()
    except NoNode as why:
        pytest.skip(f"THE PAGES ARE NOT BUILT ANEW HERE: {why}")
    assert types_of(node, API / "openapi.json") == (API / "schema.ts").read_text(encoding="utf-8")
    build_into(node, tmp_path / "room")
    built = {path.name: path.read_bytes() for path in (tmp_path / "room").iterdir()}
    kept = {path.name: path.read_bytes() for path in ROOM_FOLDER.iterdir()}
    assert set(built) == set(kept)
    assert [name for name in built if built[name] != kept[name]] == [], "make pages builds them anew"
