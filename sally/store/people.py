"""What a study with people planned, kept beside their episodes for reports and registrations."""

from __future__ import annotations

import msgspec

from sally.core.errors import BadInput
from sally.store.places import Where, place

PEOPLE = "people_study.json"


class PeoplePlan(msgspec.Struct, frozen=True):
    """A study with people as a store keeps it: what it is called and how much was wanted."""

    study: str
    title: str
    asks: str  # hash of the whole study file, as it was read
    participants: int
    planned: dict[str, int]  # games, by condition
    games: tuple[str, ...]


def keep_people_plan(where: Where, plan: PeoplePlan) -> None:
    """Put the plan into a store, in the place of an earlier one."""
    data = msgspec.json.format(msgspec.json.encode(plan, order="sorted"), indent=2)
    place(where).put(PEOPLE, data + b"\n")


def people_plan(where: Where) -> PeoplePlan | None:
    """The plan of the people in a store; None where nobody took part, or none was kept."""
    at = place(where)
    if PEOPLE not in at.names():
        return None
    try:
        return msgspec.json.decode(at.read(PEOPLE), type=PeoplePlan)
    except (OSError, msgspec.DecodeError) as why:
        raise BadInput(f"{at}/{PEOPLE} does not hold a plan: {why}.") from None
