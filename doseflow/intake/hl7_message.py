r"""
HL7 version 2 messages in the ER7 encoding (HL7 v2.8, chapter 2, sections 2.5 to 2.7), read into fields.

Traps: a byte-order mark before MSH; segments that end with CR, LF or both; delimiters that MSH itself names; a
character set whose second bytes are delimiters (GB 18030 has `|`, `^` and `~` in them), so that bytes must become text
before anything is split; field 1 of MSH is the separator itself.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from doseflow.errors import MessageRefused

_SEGMENT = re.compile(r"[A-Z][A-Z0-9]{2}")
_LINE_END = re.compile(r"\r\n|\r|\n")
_ESCAPE_NAMES = {"F": "field", "S": "component", "T": "subcomponent", "R": "repetition", "E": "escape"}
CHARSETS = {
    "": "utf-8",
    "ASCII": "utf-8",
    "ISO IR6": "utf-8",
    "UNICODE UTF-8": "utf-8",
    "UTF-8": "utf-8",
    "UNICODE": "utf-8",
    "GB 18030-2000": "gb18030",
    "GB 18030": "gb18030",
    "GB18030": "gb18030",
    "GB2312": "gb18030",
    "GBK": "gb18030",
    "BIG-5": "big5",
    "KS X 1001": "euc_kr",
    "ISO IR100": "iso8859_1",
} | {f"8859/{part}": f"iso8859_{part}" for part in (*range(1, 12), *range(13, 17))}
"""Python's codec for each code of HL7 table 0211 that is read; others are refused by name."""


@dataclass(frozen=True, slots=True)
class Delimiters:
    """The characters that divide a message, as MSH-1 and MSH-2 name them."""

    field: str = "|"
    component: str = "^"
    repetition: str = "~"
    escape: str = "\\"
    subcomponent: str = "&"


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment: `fields[n]` is field n as it stands, `fields[0]` the segment's name."""

    name: str
    fields: tuple[str, ...]
    delimiters: Delimiters

    def text(self, field: int, component: int = 1, subcomponent: int = 1, repetition: int = 1) -> str:
        """A part of a field without its escapes, all counted from 1; empty where there is none."""
        marks = self.delimiters
        whole = self.fields[field] if field < len(self.fields) else ""
        if whole == '""':
            return ""
        for mark, number in (
            (marks.repetition, repetition),
            (marks.component, component),
            (marks.subcomponent, subcomponent),
        ):
            parts = whole.split(mark)
            whole = parts[number - 1] if number <= len(parts) else ""
        return _unescaped(whole, marks).strip()

    def components(self, field: int) -> tuple[str, ...]:
        """First subcomponents of the components of a field's first repetition."""
        first = (self.fields[field] if field < len(self.fields) else "").split(self.delimiters.repetition)[0]
        number = len(first.split(self.delimiters.component))
        return tuple(self.text(field, component) for component in range(1, number + 1))


@dataclass(frozen=True, slots=True)
class Hl7Message:
    """A message whose MSH could be read; `charset` is the codec of its MSH-18."""

    segments: tuple[Segment, ...]
    charset: str

    @property
    def header(self) -> Segment:
        """The MSH segment."""
        return self.segments[0]

    @property
    def kind(self) -> str:
        """Message code and trigger event of MSH-9, such as `SIU^S12`; never taken from anywhere else."""
        return f"{self.header.text(9, 1)}^{self.header.text(9, 2)}"

    @property
    def control_id(self) -> str:
        """MSH-10, which the answer repeats."""
        return self.header.text(10)

    def named(self, name: str) -> list[Segment]:
        """The segments of a name, in order."""
        return [one for one in self.segments if one.name == name]

    def first(self, name: str) -> Segment | None:
        """The first segment of a name."""
        return next((one for one in self.segments if one.name == name), None)


def read_message(raw: bytes) -> Hl7Message:
    """
    Read one message.

    Raises
    ------
    MessageRefused
        It does not begin with a readable MSH, or is not in the character set that it names.
    """
    body = raw.removeprefix(codecs.BOM_UTF8).lstrip()
    if not body.startswith(b"MSH"):
        raise MessageRefused("MSH", "must be the first segment")
    charset = _charset(body)
    try:
        text = body.decode(charset)
    except UnicodeDecodeError as error:
        if charset != "utf-8" or _declared(body):
            raise MessageRefused(
                "MSH-18", f"must name the character set used; byte {error.start} is not {charset}"
            ) from error
        text = body.decode("iso8859_1")
    marks = _delimiters(text)
    # Lines that are no segment are the rest of a field in which somebody pressed Enter; none of ours has such.
    lines = [line for line in _LINE_END.split(text) if _SEGMENT.match(line)]
    return Hl7Message(tuple(_segment(line, marks) for line in lines), charset)


def _declared(body: bytes) -> str:
    line = re.split(rb"[\r\n]", body, maxsplit=1)[0].decode("iso8859_1")
    fields = line.split(line[3:4] or "|")
    declared = [field.split("~")[0].strip().upper() for field in fields[17:]]
    # Names in a character set whose second bytes are delimiters push MSH-18 to the right.
    pushed = (one for one in declared if one in CHARSETS and CHARSETS[one] != "utf-8")
    return next(pushed, declared[0] if declared else "")


def _charset(body: bytes) -> str:
    declared = _declared(body)
    if declared not in CHARSETS:
        raise MessageRefused("MSH-18", f"must be a character set that is read here, got {declared[:40]!r}")
    return CHARSETS[declared]


def _delimiters(text: str) -> Delimiters:
    mark = text[3:4]
    named = text[4 : text.find(mark, 4)] if mark and text.find(mark, 4) > 0 else ""
    marks = (mark, *named[:4])
    if len(named) < 2 or len(set(marks)) != len(marks) or any(one.isalnum() or one.isspace() for one in marks):
        raise MessageRefused("MSH-2", "must name the delimiters of the message, such as ^~\\&")
    default = Delimiters()
    # A delimiter that is left out (the last two may be) is one that the message never uses.
    escape = named[2] if len(named) > 2 else default.escape
    subcomponent = named[3] if len(named) > 3 else default.subcomponent
    return Delimiters(mark, named[0], named[1], escape, subcomponent)


def _segment(line: str, marks: Delimiters) -> Segment:
    name = line[:3]
    fields = line.split(marks.field)
    if name == "MSH":
        fields = [name, marks.field, *fields[1:]]
    return Segment(name, tuple(fields), marks)


def _unescaped(text: str, marks: Delimiters) -> str:
    if marks.escape not in text:
        return text
    escape = re.escape(marks.escape)
    return re.sub(f"{escape}([^{escape}]*){escape}", lambda found: _meant(found[1], marks), text)


def _meant(code: str, marks: Delimiters) -> str:
    if code in _ESCAPE_NAMES:
        return str(getattr(marks, _ESCAPE_NAMES[code]))
    # Highlighting, line breaks and other alphabets: nothing that is read here has them.
    return ""
