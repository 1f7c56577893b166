import re

import pytest

from doseflow.web.pages import STATIC_FOLDER

FILES = sorted(path for path in STATIC_FOLDER.iterdir() if path.is_file())
NAMESPACES = {"http://www.w3.org/2000/svg"}
MARKUP_FROM_TEXT = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc")


def names(paths):
    return [path.name for path in paths]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_is_loaded_from_elsewhere(path):
    addresses = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s\"'`<)]*", path.read_text(encoding="utf-8")))
    assert addresses <= NAMESPACES


@pytest.mark.parametrize("path", [each for each in FILES if each.suffix == ".js"], ids=lambda path: path.name)
def test_text_never_becomes_markup_or_code(path):
    text = path.read_text(encoding="utf-8")
    assert [word for word in MARKUP_FROM_TEXT if word in text] == []


@pytest.mark.parametrize("path", [each for each in FILES if each.suffix == ".html"], ids=lambda path: path.name)
def test_a_page_has_no_inline_script_or_style(path):
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\bon\w+=|\bstyle=", text) == []


def test_every_module_that_is_imported_exists_and_every_module_is_used():
    imported = {"main.js", "theme.js", "docs.js", "sign_in.js"}
    for path in FILES:
        imported |= set(re.findall(r'from "\./([a-z_]+\.js)"', path.read_text(encoding="utf-8")))
    assert imported == {name for name in names(FILES) if name.endswith(".js")}


def test_the_pages_and_their_files_are_served_with_their_types(quiet_client):
    for path, media_type in {
        "/": "text/html",
        "/docs": "text/html",
        "/static/main.js": "text/javascript",
        "/static/tokens.css": "text/css",
        "/static/icon.svg": "image/svg+xml",
    }.items():
        answer = quiet_client.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(media_type)


def test_a_file_that_is_known_already_is_not_sent_again(quiet_client):
    first = quiet_client.get("/static/main.js")
    again = quiet_client.get("/static/main.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_nothing_outside_the_folder_is_served(quiet_client):
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"):
        assert quiet_client.get(path).status_code == 404
