"""What each playbook lays on the plans, in English and in Chinese."""

from __future__ import annotations

from doseflow.domain.city import City
from doseflow.domain.playbooks import Playbook, PlaybookKind


def explain_playbook(playbook: Playbook, city: City) -> tuple[str, str]:
    """One sentence in English and one in Chinese: what holds from the next plan on."""
    names_en = ", ".join(_name(city, site_id) for site_id in playbook.site_ids)
    names_zh = "、".join(_name(city, site_id) for site_id in playbook.site_ids)
    if playbook.kind is PlaybookKind.SUSPEND_SITE:
        return (
            f"Nobody is vaccinated at {names_en}: every station closes, and no people, doses or appointments go there.",
            f"{names_zh}停止接种：关闭全部台位，不再派人、调拨或放号。",
        )
    if playbook.kind is PlaybookKind.FRIDGE_FAILURE:
        return (
            f"Fridge {playbook.fridge_id} at {names_en} does not cool: what lies in it leaves, nothing is put in.",
            f"{names_zh}的冰箱{playbook.fridge_id}已失去制冷：柜内疫苗移出，不得再移入。",
        )
    if playbook.kind is PlaybookKind.RECALL_LOT:
        return (
            f"Lot {playbook.lot_number} is recalled: no dose of it is moved or given, every site takes it out of use.",
            f"批号{playbook.lot_number}已召回：不得调拨或接种，各接种点停用并隔离。",
        )
    if playbook.kind is PlaybookKind.SURGE:
        return (
            f"Surge: up to {playbook.factor:g} times as much may be changed in one cycle, within fixed bounds.",
            f"高峰模式：单次调整幅度放宽至{playbook.factor:g}倍，但不超过固定上限。",
        )
    return (
        f"No power at {names_en}: nothing cold goes there, and what would be lost first leaves first.",
        f"{names_zh}停电：不再送入疫苗，最先失效的最先移出。",
    )


def _name(city: City, site_id: str) -> str:
    site_idx = city.site_to_idx.get(site_id)
    return site_id if site_idx is None else city.sites[site_idx].name
