"""The experimenter's pages of stored and running episodes."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from sally.core.display.scenes import REFEREE, ending, tell
from sally.core.errors import BadInput
from sally.core.log.events import Episode, label
from sally.web import security
from sally.web.database import Transaction
from sally.web.explorer import perspective
from sally.web.explorer.index import EpisodeFilter, EpisodeIndex, IndexEntry
from sally.web.live.match import LiveMatch
from sally.web.live.matches import LiveMatches
from sally.web.security import experimenter_required, form_token

A_PAGE = 50  # episodes per page
NEWEST = 10  # episodes in the overview
END = "end"  # the step after the last turn


class EpisodePage(msgspec.Struct, frozen=True):
    """One page of the episode list."""

    entries: tuple[IndexEntry, ...]
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


def shown(entries: list[IndexEntry], page: int) -> EpisodePage:
    """Return a page of entries; a number beyond the last page returns the last page."""
    pages = max(1, -(-len(entries) // A_PAGE))
    page = min(max(page, 1), pages)
    return EpisodePage(
        tuple(entries[(page - 1) * A_PAGE : page * A_PAGE]), len(entries), page, pages
    )


def wanted_by(request: Request) -> EpisodeFilter:
    """Return the filter in a request's query."""
    asked = request.query_params
    return EpisodeFilter(
        **{name: asked.get(name, "")[:200] for name in EpisodeFilter.__struct_fields__}
    )


def page_number(request: Request) -> int:
    given = request.query_params.get("page", "1")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 7 else 1


def query(wanted: EpisodeFilter, **more: Any) -> str:
    """Return the query string of a filter, so that a list can be shared as a link."""
    given = {k: v for k, v in msgspec.structs.asdict(wanted).items() if v}
    return urlencode({**given, **more})


async def index_of(request: Request) -> EpisodeIndex:
    """Return the server's index, refreshed."""
    state = request.app.state
    if not hasattr(state, "index"):
        own = () if state.settings.out is None else (state.settings.out,)
        state.index = EpisodeIndex([*own, *state.settings.stores])
    found: EpisodeIndex = state.index
    await run_in_threadpool(found.refresh)
    found.run([entry for here in state.studies.values() for entry in await here.played()])
    return found


async def episode_of(request: Request, store_name: str, id: str) -> Episode:
    """Return an episode of a store or of the running study."""
    index = await index_of(request)
    for study in request.app.state.studies.values():
        if store_name == study.owner:
            found: Episode = await study.episode(id)
            return found
    return await run_in_threadpool(index.episode, store_name, id)


# --- matches in progress ------------------------------------------------------------------------


async def tables(request: Request) -> list[InProgress]:
    """Return the matches in progress, oldest first."""
    live_matches: LiveMatches = request.app.state.live_matches
    query = "SELECT id, cell, made FROM matches WHERE ended = 0 ORDER BY made"
    rows = await live_matches.database.run(Transaction.all, query)
    matches = {live.id: live for live in live_matches.in_progress()}
    now = time.time()
    return [_in_progress(matches[id], cell, now - made) for id, cell, made in rows if id in matches]


def _in_progress(live: LiveMatch, cell: str, seconds: float) -> InProgress:
    setup = live.match.setup
    return InProgress(
        id=live.id,
        cell=cell,
        game=setup.instance.game,
        instance=setup.instance.id,
        players=tuple(f"{seat} = {label(who)}" for seat, who in setup.lineup.items()),
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
    index = await index_of(request)
    whole = "explorer/live.html" if "live" in request.query_params else "explorer/overview.html"
    newest = index.entries()[:NEWEST]
    if await run_in_threadpool(index.drop_invalid, newest):
        newest = index.entries()[:NEWEST]
    return page(
        request,
        whole,
        tables=await tables(request),
        progress=index.progress(),
        newest=newest,
        bad=index.bad,
        study=getattr(request.app.state, "study", None),
    )


async def episodes(request: Request) -> Response:
    """Show the filtered episode list."""
    index, wanted = await index_of(request), wanted_by(request)
    found = await run_in_threadpool(index.entries, wanted)
    listed = shown(found, page_number(request))
    while await run_in_threadpool(index.drop_invalid, listed.entries):
        listed = shown(index.entries(wanted), page_number(request))
    whole = "explorer/rows.html" if "live" in request.query_params else "explorer/list.html"
    return page(
        request,
        whole,
        shown=listed,
        wanted=wanted,
        choices=index.choices() if whole.endswith("list.html") else {},
        bad=index.bad,
        live="/experimenter/episodes?" + query(wanted, page=listed.page, live=1),
        earlier=_neighbour(wanted, listed, -1),
        later=_neighbour(wanted, listed, +1),
    )


def _neighbour(wanted: EpisodeFilter, listed: EpisodePage, by: int) -> str | None:
    there = 1 <= listed.page + by <= listed.pages
    return "/experimenter/episodes?" + query(wanted, page=listed.page + by) if there else None


async def episode(request: Request) -> Response:
    """Show one turn of an episode from one perspective."""
    store_name, id = request.path_params["store"], request.path_params["id"]
    asked = request.query_params
    try:
        found = await episode_of(request, store_name, id)
        facts = await run_in_threadpool(
            step, found, asked.get("eyes", REFEREE), asked.get("turn", ""), "play_on" in asked
        )
    except BadInput as why:
        return page(request, "explorer/problem.html", 404, why=str(why))
    return page(request, "explorer/episode.html", store_name=store_name, episode=found, **facts)


def step(found: Episode, who: str, turn: str, play_on: bool = False) -> dict[str, Any]:
    """Return the data of a turn's page; an unknown turn becomes the nearest one."""
    story = tell(found)
    turns = perspective.turns_of(story, who)
    stops: list[str] = [*map(str, turns), END]
    if turn not in stops:
        turn = _nearest(turns, turn)
    at = stops.index(turn)
    facts: dict[str, Any] = {
        "eyes": who,
        "everybody": perspective.perspectives_of(story),
        "seats": perspective.seats_of(found) if who == REFEREE else (),
        "stops": stops,
        "turn": turn,
        "before": stops[at - 1] if at else None,
        "after": stops[at + 1] if at + 1 < len(stops) else None,
        "ending": perspective.sentence(ending(found.end)),
    }
    if turn == END:
        return facts | {"close": perspective.close(story, who)}
    if who == REFEREE:
        return facts | {"ledger": perspective.ledger(story, int(turn), play_on)}
    scene = perspective.turn_of_seat(story, who, int(turn))
    board = "" if scene.board is None else msgspec.json.encode(scene.board).decode()
    return facts | {"scene": scene, "board": board}


def _nearest(turns: list[int], given: str) -> str:
    """Return the given turn or, if the perspective shows nothing in that turn, the nearest turn
    with content."""
    if not turns:
        return END
    wanted = int(given) if given.isascii() and given.isdigit() and len(given) < 9 else 0
    return str(min(turns, key=lambda turn: (abs(turn - wanted), turn)))


ROUTES: list[BaseRoute] = [
    Route("/experimenter", experimenter_required(overview)),
    Route("/experimenter/episodes", experimenter_required(episodes)),
    Route("/experimenter/episodes/{store}/{id}", experimenter_required(episode)),
]
