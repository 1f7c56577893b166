"""
Logs without secrets and without particulars of people: by the name of a field, and by what a text looks like.

What is taken out becomes `***`. Texts are those of exceptions too, which quote what somebody sent.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

MASK = "***"
_HIDDEN = (
    r"authorization|cookie|set-cookie|password|passwd|secret|token|api[_-]?key|private[_-]?key|credentials?|signature"
)
_PERSON = (
    r"birth[_-]?date|date_of_birth|dob|patient\w*|given[_-]?name|family[_-]?name|first[_-]?name|last[_-]?name|full[_-]?name|"
    r"phone|mobile|telecom|e?mail|address|national[_-]?id|id[_-]?number|id[_-]?card|passport|身份证\w*|姓名|电话|手机"
)
_NAME = re.compile(rf"(?:^|[_\-.])(?:{_HIDDEN})s?$|^(?:{_PERSON})$", re.IGNORECASE)
_QUOTE = r"\\{0,3}[\"']"
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)", MASK),
        (r"\b(Bearer|Basic)\s+[^\s\"',;]+", rf"\1 {MASK}"),
        (r"\b(?:dsf|whsec)_[A-Za-z0-9_+/=-]+", MASK),
        (r"\beyJ[\w-]+\.[\w-]+\.[\w-]*", MASK),
        (r"\$argon2[^\s\"',;]*", MASK),
        (r"(://[^\s:/@\"']*):[^\s/\"']*@", rf"\1:{MASK}@"),
        (rf"({_QUOTE}\w*(?:{_HIDDEN}|{_PERSON}){_QUOTE}\s*[:=]\s*)({_QUOTE}).*?(?<!\\){_QUOTE}", rf"\1\2{MASK}\2"),
        (rf"({_QUOTE}\w*(?:{_HIDDEN}|{_PERSON}){_QUOTE}\s*[:=]\s*)[^\s\"',}}\]\\]+", rf"\1{MASK}"),
        (rf"\b(\w*(?:{_HIDDEN})|key|code|state|sig)=[^\s&;\"',)\]}}\\]+", rf"\1={MASK}"),
        (r"\b((?:set-)?cookie|authorization):[^\r\n\"]+", rf"\1: {MASK}"),
        (r"(__Host-doseflow|\bdoseflow(?:-away)?)=[^\s;\"',]+", rf"\1={MASK}"),
        (r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", MASK),
        # Identity numbers of GB 11643-1999, and mobile numbers, of China.
        (r"(?<![\w.])\d{17}[\dX](?!\w)", MASK),
        (r"(?<![\w.])(?:\+?86[ -]?)?1[3-9]\d{9}(?!\w)", MASK),
    )
)


def scrub_fields(_logger: Any, _method: str, event: Any) -> Any:
    """The last step before the text of a log line is made."""
    return _scrubbed(event)


def scrub_text(text: str) -> str:
    """A text without what looks like a secret or like particulars of a person."""
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


class ScrubbedLines(logging.Formatter):
    """What libraries log by themselves, tracebacks too, without the same things."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        return scrub_text(super().format(record))


def _scrubbed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: MASK if _NAME.search(str(key)) else _scrubbed(each) for key, each in value.items()}
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, bytes):
        return scrub_text(value.decode("utf-8", "replace"))
    if isinstance(value, list | tuple | set | frozenset):
        return [_scrubbed(each) for each in value]
    return value if isinstance(value, int | float | bool) or value is None else scrub_text(str(value))
