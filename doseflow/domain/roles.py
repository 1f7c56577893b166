"""The four stages of a visit and the roles that serve them, in the order people pass through."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a member of staff is qualified to do; axis R."""

    REGISTRAR = "registrar"
    SCREENER = "screener"
    VACCINATOR = "vaccinator"
    OBSERVER = "observer"


class Stage(StrEnum):
    """Where a person is in the visit; axis R too, each stage being served by the role at the same position."""

    REGISTRATION = "registration"
    SCREENING = "screening"
    VACCINATION = "vaccination"
    OBSERVATION = "observation"


ROLES: tuple[Role, ...] = tuple(Role)
STAGES: tuple[Stage, ...] = tuple(Stage)
NUM_ROLES = len(ROLES)
ROLE_TO_IDX: dict[Role, int] = {role: idx for idx, role in enumerate(ROLES)}
STAGE_TO_IDX: dict[Stage, int] = {stage: idx for idx, stage in enumerate(STAGES)}
VACCINATION_IDX = STAGE_TO_IDX[Stage.VACCINATION]
OBSERVATION_IDX = STAGE_TO_IDX[Stage.OBSERVATION]
