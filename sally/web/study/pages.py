"""The participants' pages of a study, under /study."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from sally.core.errors import BadInput, NotAsked
from sally.web.database import StorageFull, StorageLost
from sally.web.live.match import MatchDiscarded
from sally.web.security import RequestRefused, form_of, json_of, page, texts_for
from sally.web.study import participants
from sally.web.study.dashboard import COOKIE, export_again, store_of, with_cookie
from sally.web.study.definition import GIVEN, read_human_studies
from sally.web.study.participants import ACTIVE, Person
from sally.web.study.running import AlreadyWithdrawn, Position, RunningStudy
from sally.web.study.steps import FALLBACK, MODEL

LOG = logging.getLogger("sally.web")
SCHEMA = participants.SCHEMA


async def start(app: Starlette) -> None:
    """Load the studies of this server; raises BadInput if two have the same name."""
    database, live_matches = app.state.database, app.state.live_matches
    found: dict[str, RunningStudy] = {}
    taken: set[str] = set()  # names in URLs
    for path in app.state.settings.studies:
        studies = read_human_studies(path)
        names = {study.name for study in studies} | {study.room for study in studies} - {""}
        if twice := names & taken:
            raise BadInput(f"Two studies of this server have the name {min(twice)!r}.")
        taken |= names
        for study in studies:
            kept = await participants.prepare(database, study)
            here = RunningStudy(study, kept, database, live_matches, path.parent)
            found[study.name] = here
            live_matches.watchers.append(here.match_over)
    app.state.studies = found


def study_of(request: Request) -> RunningStudy:
    """Return the study in the URL; raises NoSuchStudy."""
    found: RunningStudy | None = request.app.state.studies.get(request.path_params.get("name"))
    if found is None:
        raise NoSuchStudy
    request.state.here, request.state.texts = found, found.texts
    return found


class NoSuchStudy(Exception):
    """The URL names no running study."""


def notice(request: Request, title: str, *text: str, status: int = 200) -> Response:
    """Render a page with a message."""
    here: RunningStudy | None = getattr(request.state, "here", None)
    study = None if here is None else here.study
    return page(
        request, "study/notice.html", status, heading=title, paragraphs=text, contact_of=study
    )


def common_notice(request: Request, key: str, *more: str, status: int = 200) -> Response:
    """Render a page with the texts `notice.KEY` and `notice.KEY_text` in the study's language."""
    t = texts_for(request)
    return notice(request, t(f"notice.{key}"), t(f"notice.{key}_text"), *more, status=status)


def for_participants(
    endpoint: Callable[[Request, RunningStudy], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """Wrap an endpoint of the study, turning errors into readable pages."""

    async def served(request: Request) -> Response:
        try:
            here = study_of(request)
        except NoSuchStudy:
            return await nowhere(request)
        t = here.texts
        try:
            return await endpoint(request, here)
        except NotAsked as why:  # the match's version of the rules is not installed
            contact = here.study.contact
            return notice(request, t("notice.broken"), str(why), contact, status=409)
        except AlreadyWithdrawn:
            return notice(request, t("withdraw.done"), t("withdraw.gone"))
        except RequestRefused as why:
            return notice(request, t("notice.failed"), why.why, status=why.status)
        except (StorageFull, StorageLost, MatchDiscarded) as why:
            LOG.error("a study page failed: %r", why)
            status = 507 if isinstance(why, StorageFull) else 503
            return common_notice(request, "storage", status=status)

    return served


async def nowhere(request: Request) -> Response:
    return common_notice(request, "nowhere", status=404)


# --- arrival ------------------------------------------------------------------------------------


async def link(request: Request) -> Response:
    """Handle the study's link; in a study with sessions, redirect to the visitor's session."""
    name = request.path_params["name"]
    sessions = [h for h in request.app.state.studies.values() if h.study.room == name]
    if not sessions:
        return await for_participants(arrive)(request)
    request.state.here, request.state.texts = sessions[0], sessions[0].texts
    for here in sessions:
        platform = here.study.platform
        given, known = given_in(request, here), await who_is(request, here)
        mine = known is not None and (not given or given == known.given)
        if mine or (given and (given in platform.labels or await here.known(given) is not None)):
            return to_session(request, here)
    for here in sessions:
        if not here.study.platform.labels and not await here.full():
            return to_session(request, here)
    if all(here.study.platform.labels for here in sessions):
        return common_notice(request, "bad_link", status=400)
    return to_session(request, sessions[-1])  # whose page says that the study is full


async def who_is(request: Request, here: RunningStudy) -> Person | None:
    """Return the participant whose cookie the browser sent, or None."""
    cookie = request.cookies.get(COOKIE, "")
    return await here.who(cookie) if cookie else None


def to_session(request: Request, here: RunningStudy) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{address(here)}{query}", 303)


async def arrive(request: Request, here: RunningStudy) -> Response:
    """Respond to the study's link: new visitors see the consent form, and participants see their
    current step."""
    cookie, given = request.cookies.get(COOKIE, ""), given_in(request, here)
    person = await who_is(request, here)
    if person is not None and not (given and given != person.given and person.state != ACTIVE):
        if given and given != person.given:
            return common_notice(request, "other_person", status=409)
        return await shown(request, here, person)
    if (refused := wrong_link(request, here, given)) is not None:
        return refused
    if given and (known := await here.known(given)) is not None:
        return await returned(request, here, known)
    if await here.full():
        return common_notice(request, "full")
    if person is not None or not cookie:
        cookie = secrets.token_urlsafe(32)
    return with_cookie(request, consent_page(request, here, cookie, given), cookie)


def consent_page(
    request: Request,
    here: RunningStudy,
    cookie: str,
    given: str,
    problem: str = "",
    sent: Mapping[str, str] | None = None,
) -> Response:
    return page(
        request,
        "study/consent.html",
        422 if problem else 200,
        study=here.study,
        given=given,
        kept=kept_of(here, request.query_params if sent is None else sent),
        problem=problem,
        token=here.secrets.form_token(cookie, given),  # bound to this link's id
    )


def kept_of(here: RunningStudy, sent: Mapping[str, str]) -> dict[str, str]:
    """Return the platform's parameters that the study keeps; malformed values are dropped."""
    found = {name: sent.get(name, "") for name in here.study.platform.keep}
    return {name: value for name, value in found.items() if GIVEN.fullmatch(value)}


def given_in(request: Request, here: RunningStudy) -> str:
    name = here.study.platform.participant
    return request.query_params.get(name, "") if name else ""


def wrong_link(request: Request, here: RunningStudy, given: str) -> Response | None:
    """Return the error page of an incomplete link, or None if the link is valid."""
    platform = here.study.platform
    right = all(request.query_params.get(k) == v for k, v in platform.require.items())
    known = not platform.labels or given in platform.labels
    if right and known and (not platform.participant or GIVEN.fullmatch(given)):
        return None
    return common_notice(request, "bad_link", status=400)


async def returned(request: Request, here: RunningStudy, known: Person) -> Response:
    """Respond to a known participant id that arrives from an unknown browser."""
    if known.state == ACTIVE and here.study.platform.resume_by_link:
        cookie = secrets.token_urlsafe(32)
        await here.hand_over(known, cookie)
        return with_cookie(request, RedirectResponse(address(here), 303), cookie)
    if known.state == ACTIVE:
        return common_notice(request, "elsewhere", here.study.contact, status=409)
    return common_notice(request, "already", status=409)


def address(here: RunningStudy) -> str:
    return f"/study/{here.study.name}"


async def sent_form(
    request: Request, here: RunningStudy, by_link: bool = False
) -> tuple[str, dict[str, str]]:
    """Return the cookie and fields of a form; raises Refused unless one of the study's pages sent
    it."""
    cookie = request.cookies.get(COOKIE, "")
    if not cookie:
        raise RequestRefused(403, here.texts("notice.old_page"))
    sent = await form_of(request)
    expected = here.secrets.form_token(cookie, sent.get("given", "") if by_link else None)
    if not secrets.compare_digest(sent.get("token", "").encode(), expected.encode()):
        raise RequestRefused(403, here.texts("notice.old_page"))
    return cookie, sent


async def consent(request: Request, here: RunningStudy) -> Response:
    """Accept the submitted consent form; nothing is stored before consent."""
    cookie, sent = await sent_form(request, here, by_link=True)
    given = sent.get("given", "")
    if sent.get("answer") == "no":
        if await here.who(cookie) is None:
            await here.decline()
        return common_notice(request, "declined")
    if sent.get("agree") != "yes":
        return consent_page(request, here, cookie, given, here.texts("consent.tick"), sent)
    if bool(here.study.platform.participant) != bool(GIVEN.fullmatch(given)):
        raise RequestRefused(400, here.texts("notice.bad_link_text"))
    if (
        await here.join(cookie, given, kept_of(here, sent)) is None
        and await here.who(cookie) is None
    ):
        if given and (known := await here.known(given)) is not None:
            return await returned(request, here, known)
        return notice(request, here.texts("notice.full"), here.texts("notice.full_now"))
    return RedirectResponse(address(here), 303)


# --- steps --------------------------------------------------------------------------------------


async def shown(
    request: Request, here: RunningStudy, person: Person, status: int = 200, **more: Any
) -> Response:
    """Render a participant's current page."""
    place = await here.place(person) if person.state != participants.LAPSED else None
    if place is None:
        name = "lapsed"
    elif place.person.state == participants.FAILED:
        name = "failed"
    elif place.person.state != ACTIVE:
        name = "end"
    else:
        name = place.step.partition("-")[0]
    facts = facts_of(here, place) if place is not None else {}
    if place is not None and name == "chat":
        facts["chat"] = await here.chat(place)
    if place is not None and (earlier := page_again(request, place, len(facts["pages"]))) >= 0:
        name, facts = "instructions", {**facts, "n": earlier, "again": True}
    token = here.secrets.form_token(request.cookies[COOKIE])
    return page(
        request,
        f"study/{name}.html",
        status,
        study=here.study,
        token=token,
        late="late" in request.query_params,
        **{"wrong": {}, "sent": {}, **facts, **more},
    )


def page_again(request: Request, place: Position, pages: int) -> int:
    """Return the index of the instruction page that a participant reads again, or -1."""
    wanted = request.query_params.get("page", "")
    if not place.step.startswith(("instructions-", "check-")) or not wanted.isdecimal():
        return -1
    read = sum(key.startswith("instructions-") for key in place.given)
    return int(wanted) if len(wanted) < 4 and int(wanted) < min(read, pages) else -1


def facts_of(here: RunningStudy, place: Position) -> dict[str, Any]:
    study, person = here.study, place.person
    return {
        "step": place.step,
        "n": place.number if "-" in place.step else 0,
        "pages": study.pages(place.condition),
        "again": False,
        "read": sum(key.startswith("instructions-") for key in place.given),
        "rounds": study.rounds_of(place.condition),
        "table": f"{address(here)}/table#{place.token}&back={address(here)}" if place.token else "",
        "text": block_page(here, place),
        "pay": study.bonus.parts(person.bonus),
        "waiting": place.waiting,
        "waited": place.waited,
        "with_bot": FALLBACK in place.given,
        "with_model": MODEL in place.given,
        "practised": len(study.practised(place.condition)),
        "feedback": place.feedback,
        "person": person,
        "cut_short": cut_short(place),
        "back_to": study.completion.address(person.code) if study.completion.url else "",
    }


def block_page(here: RunningStudy, place: Position) -> str:
    """Return the text of the current page, if it belongs to the instructions for a block of games;
    else return an empty string."""
    kind, _, rest = place.step.partition("-")
    if kind != "block":
        return ""
    block, page = map(int, rest.split("-"))
    return place.condition.blocks[block].instructions[page]


def cut_short(place: Position) -> str:
    """Return why rounds were skipped, or an empty string."""
    hows = [v["how"] for k, v in place.given.items() if k.startswith("round-")]
    return next((how for how in hows if how in ("left", "partner left", "no partner")), "")


async def table(request: Request, here: RunningStudy) -> Response:
    """Show the page of a game."""
    return page(request, "play/table.html", study=here.study)


async def picture(request: Request, here: RunningStudy) -> Response:
    """Serve a picture that the study's texts use; no other file is served."""
    name = request.path_params["file"]
    if name not in here.study.pictures:
        return await nowhere(request)
    return FileResponse(here.folder / name)


async def go_on(request: Request, here: RunningStudy) -> Response:
    """Accept a submitted page; late or repeated submissions change nothing."""
    cookie, sent = await sent_form(request, here)
    person = await here.who(cookie)
    if person is None:
        return RedirectResponse(address(here), 303)
    if person.state != ACTIVE:
        return RedirectResponse(f"{address(here)}?late", 303)
    place, step = await here.place(person), sent.get("step", "")
    kept, wrong = await here.answer(place, step, sent)
    if wrong:
        return await shown(request, here, person, 422, wrong=wrong, sent=sent)
    late = not kept and step not in place.given
    return RedirectResponse(f"{address(here)}{'?late' if late else ''}", 303)


async def waiting(request: Request, here: RunningStudy) -> Response:
    """Return whether a participant still waits for a partner; the participant's browser polls
    it."""
    person = await here.who(request.cookies.get(COOKIE, ""))
    if person is None or person.state != ACTIVE:
        return JSONResponse({"waiting": False})
    place = await here.place(person)
    return JSONResponse({"waiting": place.waiting, "seconds": round(place.waited)})


async def chat(request: Request, here: RunningStudy) -> Response:
    """Return the state of a group's chat between two games; the members' browsers poll it."""
    person = await here.who(request.cookies.get(COOKIE, ""))
    place = None if person is None or person.state != ACTIVE else await here.place(person)
    if place is None or not place.step.startswith("chat-"):
        return JSONResponse({"over": True})
    return JSONResponse({"over": False, **msgspec.to_builtins(await here.chat(place))})


async def say(request: Request, here: RunningStudy) -> Response:
    """Accept a chat message."""
    cookie, sent = await sent_form(request, here)
    person = await here.who(cookie)
    if person is None or person.state != ACTIVE:
        return RedirectResponse(address(here), 303)
    place = await here.place(person)
    if not place.step.startswith("chat-"):
        return RedirectResponse(f"{address(here)}?late", 303)
    if why := await here.say(place, sent.get("text", "")):
        return await shown(request, here, person, 422, wrong={"chat": why}, sent=sent)
    return RedirectResponse(address(here), 303)


async def noted(request: Request, here: RunningStudy) -> Response:
    """Store browser events, if the study logs them."""
    person = await here.who(request.cookies.get(COOKIE, ""))
    if not here.study.quality.log or person is None:
        raise RequestRefused(404, "This study does not log browser events.")
    try:
        report = msgspec.convert(await json_of(request), participants.BrowserEvents)
    except msgspec.ValidationError as why:
        raise RequestRefused(422, f"{why}.") from None
    await here.database.run(participants.keep_events, person.id, report.events)
    return Response(status_code=204)


async def withdrawing(request: Request, here: RunningStudy) -> Response:
    """Show the page that asks to confirm a withdrawal."""
    person = await here.who(request.cookies.get(COOKIE, ""))
    if person is None:
        return RedirectResponse(address(here), 303)
    token = here.secrets.form_token(request.cookies[COOKIE])
    return page(request, "study/withdraw.html", study=here.study, token=token)


async def withdraw(request: Request, here: RunningStudy) -> Response:
    """Withdraw a participant and delete their data."""
    cookie, _ = await sent_form(request, here)
    person = await here.who(cookie)
    if person is not None:
        await here.withdraw(person)
        await export_again(here, store_of(request, here))
    answer = notice(
        request,
        here.texts("withdraw.done"),
        here.texts("withdraw.deleted"),
        here.texts("withdraw.done_copies"),
        here.study.contact,
    )
    answer.delete_cookie(COOKIE, path="/study")
    return answer


ROUTES: list[BaseRoute] = [
    Route("/study/{name}", link),
    Route("/study/{name}/consent", for_participants(consent), methods=["POST"]),
    Route("/study/{name}/next", for_participants(go_on), methods=["POST"]),
    Route("/study/{name}/table", for_participants(table)),
    Route("/study/{name}/files/{file}", for_participants(picture)),
    Route("/study/{name}/events", for_participants(noted), methods=["POST"]),
    Route("/study/{name}/waiting", for_participants(waiting)),
    Route("/study/{name}/chat", for_participants(chat)),
    Route("/study/{name}/chat", for_participants(say), methods=["POST"]),
    Route("/study/{name}/withdraw", for_participants(withdrawing)),
    Route("/study/{name}/withdraw", for_participants(withdraw), methods=["POST"]),
    Route("/study/{rest:path}", nowhere),
]
