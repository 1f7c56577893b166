"""A summary as PDF, with a font that every reader of Chinese PDF has: no font file is needed here."""

from __future__ import annotations

from html import escape
from io import BytesIO

from doseflow.errors import EnvironmentUnfit
from doseflow.web.summary import Summary
from doseflow.web.summary_words import sections_of, title_of

FONT = "STSong-Light"
"""One of the fonts of Adobe's Asian font packs, which a PDF names and does not carry; it has Latin letters too."""


def summary_pdf(summary: Summary, language: str) -> bytes:
    """
    The bytes of the PDF.

    Raises
    ------
    EnvironmentUnfit
        The library is not installed.
    """
    try:
        from reportlab.lib.pagesizes import A4
        from reportlab.lib.styles import ParagraphStyle
        from reportlab.pdfbase import pdfmetrics
        from reportlab.pdfbase.cidfonts import UnicodeCIDFont
        from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle
    except ImportError as error:
        raise EnvironmentUnfit("a summary as PDF needs: pip install 'doseflow[reports]'") from error
    pdfmetrics.registerFont(UnicodeCIDFont(FONT))
    text = ParagraphStyle("text", fontName=FONT, fontSize=9, leading=13, wordWrap="CJK")
    heading = ParagraphStyle("heading", parent=text, fontSize=12, leading=18, spaceBefore=8)
    title, span = title_of(summary, language)
    flow: list[Flowable] = [
        Paragraph(escape(title), ParagraphStyle("title", parent=text, fontSize=16, leading=22)),
        Paragraph(escape(span), text),
    ]
    lines = TableStyle([("LINEBELOW", (0, 0), (-1, -1), 0.25, "#999999"), ("VALIGN", (0, 0), (-1, -1), "TOP")])
    for section in sections_of(summary, language):
        rows = [[Paragraph(escape(cell), text) for cell in row] for row in section.rows]
        flow += [Paragraph(escape(section.heading), heading), Table(rows, style=lines, hAlign="LEFT"), Spacer(1, 4)]
    pages = BytesIO()
    SimpleDocTemplate(pages, pagesize=A4, title=title, author="doseflow").build(flow)
    return pages.getvalue()
