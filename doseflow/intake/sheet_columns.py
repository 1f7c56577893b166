"""The columns of the table that a site without a system fills in: their names in two languages, and what they tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "moment", "whole", "number"]


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column; `path` is the dotted field of the site report, `fridge.` being the one fridge of the row."""

    path: str
    english: str
    chinese: str
    kind: Kind
    example: str


COLUMNS = (
    SheetColumn("site_id", "site", "接种点编号", "text", "prague-001"),
    SheetColumn("valid_at", "time", "时间", "moment", "2026-05-04 10:00"),
    SheetColumn("arrivals_people", "arrivals", "到达人数", "whole", "14"),
    SheetColumn("waiting_people.registration", "waiting for registration", "登记等候", "whole", "6"),
    SheetColumn("waiting_people.screening", "waiting for screening", "健康询问等候", "whole", "3"),
    SheetColumn("waiting_people.vaccination", "waiting for vaccination", "接种等候", "whole", "11"),
    SheetColumn("waiting_people.observation", "in observation", "留观人数", "whole", "19"),
    SheetColumn("observed_wait_minutes", "wait (minutes)", "等候时间（分钟）", "number", "17.5"),
    SheetColumn("doses_given", "doses given", "接种剂次", "whole", "12"),
    SheetColumn("stations.open.vaccination", "vaccination stations open", "开放接种台", "whole", "5"),
    SheetColumn("seats.taken", "seats taken", "已占留观座位", "whole", "19"),
    SheetColumn("fridge.fridge_id", "fridge", "冰箱编号", "text", "a"),
    SheetColumn("fridge.temperature_celsius", "fridge temperature (°C)", "冰箱温度（℃）", "number", "4.8"),
)
ALSO_CALLED: Mapping[str, str] = {"waiting": "waiting_people.vaccination", "等候人数": "waiting_people.vaccination"}
"""Other names in use; one queue is taken as the one before the needle."""

Language = Literal["en", "zh"]


def header_of(column: SheetColumn, language: Language) -> str:
    """The column's name."""
    return column.chinese if language == "zh" else column.english


def column_of(name: str) -> SheetColumn | None:
    """The column that a header names in either language or by its field, None for one that nobody knows."""
    plain = " ".join(name.split()).casefold()
    path = ALSO_CALLED.get(plain, plain)
    return next((one for one in COLUMNS if path in (one.path, one.english.casefold(), one.chinese)), None)
