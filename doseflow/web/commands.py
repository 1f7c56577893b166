"""POST /api/v1/commands/...: what a person in command lays on the next plan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from doseflow.errors import SiteUnknown
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import (
    ERROR_TO_PROBLEM,
    FOREIGN_ORIGIN,
    MALFORMED_REQUEST,
    STORE_UNAVAILABLE,
    documented,
)
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving
from doseflow.web.order_actions import REFUSED, ClientKey, Reason, press_of
from doseflow.web.own_sites import require_own_site

router = APIRouter(prefix="/api/v1", tags=["commands"])


class Command(StrEnum):
    """
    What can be commanded of a site.

    A frozen site is left as it is; a suspended site may not vaccinate, and nobody and nothing is sent there.
    """

    FREEZE = "freeze"
    UNFREEZE = "unfreeze"
    SUSPEND = "suspend"
    RESUME = "resume"


class CommandedSite(BaseModel):
    """The site that is meant."""

    model_config = ConfigDict(extra="forbid")
    site_id: str = Field(min_length=1, max_length=100)
    reason: Reason
    client_key: ClientKey = ""


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """The command holds from the next cycle on."""

    command: Command
    site_id: str
    set_at: datetime


@router.post(
    "/commands/{command}",
    responses={
        200: {"model": CommandAnswer},
        **documented(ERROR_TO_PROBLEM[SiteUnknown], REFUSED, MALFORMED_REQUEST, FOREIGN_ORIGIN, STORE_UNAVAILABLE),
    },
)
@needs("site.{command}")
def post_command(command: Command, site: CommandedSite, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """Freeze, unfreeze, suspend or resume a site; saying it twice changes nothing."""
    live = living.live
    require_own_site(live, caller, site.site_id)
    press = press_of(live, caller, site.reason, site.client_key)
    live.desk.command_site(command, site.site_id, press)
    live.feed.publish("site_commanded", {"command": command, "site_id": site.site_id})
    return JsonAnswer(CommandAnswer(command, site.site_id, press.at))
