"""The experimenter's pages of stored and running episodes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
import polars as pl
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from sally.core.display.scenes import REFEREE, Story, ending, tell
from sally.core.errors import BadInput
from sally.core.log.events import Episode, label
from sally.web import security
from sally.web.database import Transaction
from sally.web.explorer import perspective
from sally.web.explorer.episode_list import (
    SORTS,
    EpisodeFilter,
    EpisodeList,
    EpisodeUsage,
    ListedEpisode,
    entries_of,
    usage_of,
)
from sally.web.live.match import LiveMatch
from sally.web.live.matches import LiveMatches
from sally.web.security import experimenter_required, form_token
from sally.web.study.export import finished_episodes

A_PAGE = 50  # episodes per page
NEWEST = 10  # episodes in the overview
END = "end"  # the step after the last turn
ALL = "all"  # all turns on one page
MOST_TURNS = 400  # turns on that page


class EpisodePage(msgspec.Struct, frozen=True):
    """One page of the episode list."""

    entries: tuple[ListedEpisode, ...]
    found: int
    page: int
    pages: int


class InProgress(msgspec.Struct, frozen=True):
    """A match in progress."""

    id: str
    cell: str
    game: str
    instance: str
    players: tuple[str, ...]
    turn: int
    waits_for: tuple[str, ...]
    minutes: float


def page_of_table(table: pl.DataFrame, page: int) -> EpisodePage:
    """Return a page of episodes; a number beyond the last page returns the last page."""
    pages = max(1, -(-table.height // A_PAGE))
    page = min(max(page, 1), pages)
    entries = entries_of(table.slice((page - 1) * A_PAGE, A_PAGE))
    return EpisodePage(tuple(entries), table.height, page, pages)


def wanted_by(request: Request) -> EpisodeFilter:
    """Return the filter in a request's query."""
    query_params = request.query_params
    return EpisodeFilter(
        **{name: query_params.get(name, "")[:200] for name in EpisodeFilter.__struct_fields__}
    )


def page_number(request: Request) -> int:
    number = request.query_params.get("page", "1")
    return int(number) if number.isascii() and number.isdigit() and len(number) < 7 else 1


def query(episode_filter: EpisodeFilter, **extra_params: Any) -> str:
    """Return the query string of a filter, so that a list can be shared as a link."""
    filter_params = {k: v for k, v in msgspec.structs.asdict(episode_filter).items() if v}
    return urlencode({**filter_params, **extra_params})


async def list_of(request: Request) -> EpisodeList:
    """Return the server's list of episodes, refreshed."""
    state = request.app.state
    if not hasattr(state, "episode_list"):
        output_folder = () if state.settings.out is None else (state.settings.out,)
        state.episode_list = EpisodeList([*output_folder, *state.settings.stores])
    episode_list: EpisodeList = state.episode_list
    running = {
        study.owner: (study.study.name, await finished_episodes(study))
        for study in state.studies.values()
    }
    await run_in_threadpool(episode_list.refresh, running)
    return episode_list


# --- matches in progress ------------------------------------------------------------------------


async def tables(request: Request) -> list[InProgress]:
    """Return the matches in progress, oldest first."""
    live_matches: LiveMatches = request.app.state.live_matches
    query = "SELECT id, cell, made FROM matches WHERE ended = 0 ORDER BY made"
    rows = await live_matches.database.run(Transaction.all, query)
    matches = {live.id: live for live in live_matches.in_progress()}
    now = time.time()
    return [
        _in_progress(matches[id], cell, now - opened_at)
        for id, cell, opened_at in rows
        if id in matches
    ]


def _in_progress(live: LiveMatch, cell: str, seconds: float) -> InProgress:
    setup = live.match.setup
    return InProgress(
        id=live.id,
        cell=cell,
        game=setup.instance.game,
        instance=setup.instance.id,
        players=tuple(f"{seat} = {label(player)}" for seat, player in setup.lineup.items()),
        turn=live.match.turn,
        waits_for=tuple(dict.fromkeys(str(turn.seat) for turn in live.match.asks())),
        minutes=seconds / 60,
    )


# --- pages --------------------------------------------------------------------------------------


def page(request: Request, name: str, status: int = 200, **facts: Any) -> Response:
    """Render a page with the log-out form."""
    return security.page(request, name, status, form_token=form_token(request), **facts)


async def overview(request: Request) -> Response:
    """Show an overview of running studies; the browser reloads the middle of the page every few
    seconds."""
    episode_list = await list_of(request)
    template = "explorer/live.html" if "live" in request.query_params else "explorer/overview.html"
    return page(
        request,
        template,
        tables=await tables(request),
        progress=episode_list.progress(),
        newest=entries_of(episode_list.episodes().head(NEWEST)),
        bad=episode_list.bad,
        study=getattr(request.app.state, "study", None),
    )


async def episodes(request: Request) -> Response:
    """Show the filtered episode list."""
    episode_list, episode_filter = await list_of(request), wanted_by(request)
    table = await run_in_threadpool(episode_list.episodes, episode_filter)
    current = page_of_table(table, page_number(request))
    template = "explorer/rows.html" if "live" in request.query_params else "explorer/list.html"
    return page(
        request,
        template,
        shown=current,
        used=await run_in_threadpool(_usage, episode_list, current.entries),
        sorted_by=episode_filter.sort,
        sort_links=_sort_links(episode_filter),
        filter_query=query(episode_filter),
        wanted=episode_filter,
        choices=episode_list.choices() if template.endswith("list.html") else {},
        bad=episode_list.bad,
        live="/experimenter/episodes?" + query(episode_filter, page=current.page, live=1),
        earlier=_neighbour(episode_filter, current, -1),
        later=_neighbour(episode_filter, current, +1),
    )


def _usage(episode_list: EpisodeList, entries: Sequence[ListedEpisode]) -> dict[str, EpisodeUsage]:
    """Return what episodes took, by source and id; those changed meanwhile are left out."""
    used = {}
    for entry in entries:
        with suppress(BadInput):
            record = episode_list.episode(entry.source, entry.id)
            used[f"{entry.source}/{entry.id}"] = usage_of(record)
    return used


def _sort_links(episode_filter: EpisodeFilter) -> dict[str, str]:
    """Return the link of each column's heading: a second click reverses the order."""
    links = {}
    for column in SORTS:
        sort = f"-{column}" if episode_filter.sort == column else column
        changed = msgspec.structs.replace(episode_filter, sort=sort)
        links[column] = "/experimenter/episodes?" + query(changed)
    return links


def _neighbour(episode_filter: EpisodeFilter, current: EpisodePage, by: int) -> str | None:
    has_page = 1 <= current.page + by <= current.pages
    return (
        "/experimenter/episodes?" + query(episode_filter, page=current.page + by)
        if has_page
        else None
    )


async def episode(request: Request) -> Response:
    """Show one turn of an episode from one perspective."""
    source, id = request.path_params["store"], request.path_params["id"]
    query_params = request.query_params
    try:
        episode_list, episode_filter = await list_of(request), wanted_by(request)
        record = await run_in_threadpool(episode_list.episode, source, id)
        table = await run_in_threadpool(episode_list.episodes, episode_filter)
        facts = await run_in_threadpool(
            step,
            record,
            query_params.get("eyes", REFEREE),
            query_params.get("turn", ""),
            "play_on" in query_params,
        )
    except BadInput as error:
        return page(request, "explorer/problem.html", 404, why=str(error))
    return page(
        request,
        "explorer/episode.html",
        source=source,
        episode=record,
        used=usage_of(record),
        people=_people(request, source, record),
        filter_query=query(episode_filter),
        **_neighbours(table, source, id, query(episode_filter)),
        **facts,
    )


def _people(request: Request, source: str, record: Episode) -> list[tuple[str, str, str]]:
    """Return the people of an episode of a study on this server: seat, code, link."""
    names = {study.owner: study.study.name for study in request.app.state.studies.values()}
    people = record.used.get("people", {}) if source in names else {}
    codes = {seat: person["participant"] for seat, person in people.items()}
    finds = {code: urlencode({"study": names[source], "find": code}) for code in codes.values()}
    return [(seat, code, f"/experimenter/study?{finds[code]}#find") for seat, code in codes.items()]


def _neighbours(table: pl.DataFrame, source: str, id: str, filter_query: str) -> dict[str, Any]:
    """Return the place of an episode in the filtered list, and the links of those beside it."""
    is_episode = (table["source"] == source) & (table["id"] == id)
    if not is_episode.any():
        return {"place": None, "count": table.height, "previous": None, "following": None}
    place = int(is_episode.arg_true()[0])

    def link(number: int) -> str | None:
        if not 0 <= number < table.height:
            return None
        source, id = table.select("source", "id").row(number)
        address = f"/experimenter/episodes/{quote(source)}/{quote(id)}"
        return f"{address}?{filter_query}" if filter_query else address

    return {
        "place": place + 1,
        "count": table.height,
        "previous": link(place - 1),
        "following": link(place + 1),
    }


def step(record: Episode, viewer: str, turn: str, play_on: bool = False) -> dict[str, Any]:
    """Return the data of a turn's page; an unknown turn becomes the nearest one."""
    story = tell(record)
    turns = perspective.turns_of(story, viewer)
    stops: list[str] = [*map(str, turns), END]
    if turn == ALL:
        return _all_turns(record, story, viewer, turns, stops)
    if turn not in stops:
        turn = _nearest(turns, turn)
    stop_index = stops.index(turn)
    facts: dict[str, Any] = {
        "eyes": viewer,
        "everybody": perspective.perspectives_of(story),
        "seats": perspective.seats_of(record) if viewer == REFEREE else (),
        "stops": stops,
        "turn": turn,
        "before": stops[stop_index - 1] if stop_index else None,
        "after": stops[stop_index + 1] if stop_index + 1 < len(stops) else None,
        "ending": perspective.sentence(ending(record.end)),
    }
    if turn == END:
        return facts | {"close": perspective.close(story, viewer)}
    if viewer == REFEREE:
        return facts | {"ledger": perspective.ledger(story, int(turn), play_on)}
    scene = perspective.turn_of_seat(story, viewer, int(turn))
    board = "" if scene.board is None else msgspec.json.encode(scene.board).decode()
    return facts | {"scene": scene, "board": board}


def _all_turns(
    record: Episode, story: Story, viewer: str, turns: list[int], stops: list[str]
) -> dict[str, Any]:
    """Return the data of a page with all turns, each with its outline entry."""
    shown_turns = turns[:MOST_TURNS]
    facts: dict[str, Any] = {
        "eyes": viewer,
        "everybody": perspective.perspectives_of(story),
        "seats": perspective.seats_of(record) if viewer == REFEREE else (),
        "stops": stops,
        "turn": ALL,
        "before": None,
        "after": None,
        "ending": perspective.sentence(ending(record.end)),
        "close": perspective.close(story, viewer),
        "left_out": len(turns) - len(shown_turns),
    }
    if viewer == REFEREE:
        return facts | {"ledgers": perspective.ledgers(story, shown_turns)}
    return facts | {
        "scenes": [perspective.turn_of_seat(story, viewer, turn) for turn in shown_turns]
    }


def _nearest(turns: list[int], turn_text: str) -> str:
    """Return the given turn or, if the perspective shows nothing in that turn, the nearest turn
    with content."""
    if not turns:
        return END
    target_turn = (
        int(turn_text) if turn_text.isascii() and turn_text.isdigit() and len(turn_text) < 9 else 0
    )
    return str(min(turns, key=lambda turn: (abs(turn - target_turn), turn)))


ROUTES: list[BaseRoute] = [
    Route("/experimenter", experimenter_required(overview)),
    Route("/experimenter/episodes", experimenter_required(episodes)),
    Route("/experimenter/episodes/{store}/{id}", experimenter_required(episode)),
]
