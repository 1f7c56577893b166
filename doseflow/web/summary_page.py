"""A summary as a page that prints well and needs nothing else."""

from __future__ import annotations

from html import escape

from doseflow.web.summary import Summary
from doseflow.web.summary_words import Section, sections_of, title_of

LANG = {"en": "en", "zh": "zh-CN"}
STYLE_PATH = "/static/summary.css"


def summary_page(summary: Summary, language: str) -> str:
    """The page."""
    title, span = title_of(summary, language)
    body = "".join(_section(one) for one in sections_of(summary, language))
    return (
        f'<!doctype html><html lang="{LANG[language]}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f'<link rel="stylesheet" href="{STYLE_PATH}"></head>'
        f"<body><main><h1>{escape(title)}</h1><p>{escape(span)}</p>{body}</main></body></html>"
    )


def _section(section: Section) -> str:
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in section.rows)
    return f"<section><h2>{escape(section.heading)}</h2><table>{rows}</table></section>"
