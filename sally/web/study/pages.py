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
from sally.web.study.definition import (
    GIVEN,
    is_right_signature,
    link_secret,
    read_human_studies,
)
from sally.web.study.participants import ACTIVE, Person
from sally.web.study.running_study import AlreadyWithdrawn, Position, RunningStudy
from sally.web.study.steps import (
    FALLBACK,
    MODEL,
    REMOVED,
    SURVEY,
    debriefs,
    paid_games,
    pay_rule,
    rounds_in,
    survey_items,
)

LOG = logging.getLogger("sally.web")
SCHEMA = participants.SCHEMA


async def start(app: Starlette) -> None:
    """Load the studies of this server; raises BadInput if two have the same name."""
    database, live_matches = app.state.database, app.state.live_matches
    running_studies: dict[str, RunningStudy] = {}
    used_names: set[str] = set()  # names in URLs
    for path in app.state.settings.studies:
        studies = read_human_studies(path)
        names = {study.name for study in studies} | {study.room for study in studies} - {""}
        if twice := names & used_names:
            raise BadInput(f"Two studies of this server have the name {min(twice)!r}.")
        used_names |= names
        for study in studies:
            if study.platform.signature:
                link_secret()  # raises BadInput if it is not set
            study_secrets = await participants.prepare(database, study)
            running_study = RunningStudy(study, study_secrets, database, live_matches, path.parent)
            running_studies[study.name] = running_study
            live_matches.watchers.append(running_study.match_over)
    app.state.studies = running_studies


def study_of(request: Request) -> RunningStudy:
    """Return the study in the URL; raises NoSuchStudy."""
    running_study: RunningStudy | None = request.app.state.studies.get(
        request.path_params.get("name")
    )
    if running_study is None:
        raise NoSuchStudy
    request.state.here, request.state.texts = running_study, running_study.texts
    return running_study


class NoSuchStudy(Exception):
    """The URL names no running study."""


def notice(request: Request, title: str, *text: str, status: int = 200) -> Response:
    """Render a page with a message."""
    running_study: RunningStudy | None = getattr(request.state, "here", None)
    study = None if running_study is None else running_study.study
    return page(
        request, "study/notice.html", status, heading=title, paragraphs=text, contact_of=study
    )


def common_notice(request: Request, key: str, status: int = 200) -> Response:
    """Render a page with the texts `notice.KEY` and `notice.KEY_text` in the study's language."""
    t = texts_for(request)
    return notice(request, t(f"notice.{key}"), t(f"notice.{key}_text"), status=status)


def for_participants(
    endpoint: Callable[[Request, RunningStudy], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """Wrap an endpoint of the study, turning errors into readable pages."""

    async def serve(request: Request) -> Response:
        try:
            running_study = study_of(request)
        except NoSuchStudy:
            return await nowhere(request)
        t = running_study.texts
        try:
            return await endpoint(request, running_study)
        except NotAsked as error:  # the match's version of the rules is not installed
            return notice(request, t("notice.broken"), str(error), status=409)
        except AlreadyWithdrawn:
            return notice(request, t("withdraw.done"), t("withdraw.gone"))
        except RequestRefused as error:
            return notice(request, t("notice.failed"), error.why, status=error.status)
        except (StorageFull, StorageLost, MatchDiscarded) as error:
            LOG.error("a study page failed: %r", error)
            status = 507 if isinstance(error, StorageFull) else 503
            return common_notice(request, "storage", status=status)

    return serve


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
    for running_study in sessions:
        platform = running_study.study.platform
        platform_id, person = given_in(request, running_study), await who_is(request, running_study)
        is_own_session = person is not None and (not platform_id or platform_id == person.given)
        if is_own_session or (
            platform_id
            and (
                platform_id in platform.labels
                or await running_study.person_of_platform(platform_id) is not None
            )
        ):
            return to_session(request, running_study)
    for running_study in sessions:
        if not running_study.study.platform.labels and not await running_study.full():
            return to_session(request, running_study)
    if all(running_study.study.platform.labels for running_study in sessions):
        return common_notice(request, "bad_link", status=400)
    return to_session(request, sessions[-1])  # whose page says that the study is full


async def who_is(request: Request, running_study: RunningStudy) -> Person | None:
    """Return the participant whose cookie the browser sent, or None."""
    cookie = request.cookies.get(COOKIE, "")
    return await running_study.person_of_cookie(cookie) if cookie else None


def to_session(request: Request, running_study: RunningStudy) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{address(running_study)}{query}", 303)


async def arrive(request: Request, running_study: RunningStudy) -> Response:
    """Respond to the study's link: new visitors see the consent form, and participants see their
    current step."""
    cookie, platform_id = request.cookies.get(COOKIE, ""), given_in(request, running_study)
    person = await who_is(request, running_study)
    if person is not None and not (
        platform_id and platform_id != person.given and person.state != ACTIVE
    ):
        if platform_id and platform_id != person.given:
            return common_notice(request, "other_person", status=409)
        return await participant_page(request, running_study, person)
    if (refused := wrong_link(request, running_study, platform_id)) is not None:
        return refused
    if (
        platform_id
        and (participant := await running_study.person_of_platform(platform_id)) is not None
    ):
        return await answer_returning_person(request, running_study, participant)
    if platform_id and await running_study.withdrawn(platform_id):
        return withdrawn_notice(request)
    if await running_study.full():
        return common_notice(request, "full")
    if person is not None or not cookie:
        cookie = secrets.token_urlsafe(32)
    return with_cookie(request, consent_page(request, running_study, cookie, platform_id), cookie)


def consent_page(
    request: Request,
    running_study: RunningStudy,
    cookie: str,
    platform_id: str,
    problem: str = "",
    sent: Mapping[str, str] | None = None,
) -> Response:
    return page(
        request,
        "study/consent.html",
        422 if problem else 200,
        study=running_study.study,
        given=platform_id,
        kept=kept_of(running_study, request.query_params if sent is None else sent),
        problem=problem,
        token=running_study.secrets.form_token(cookie, platform_id),  # bound to this link's id
    )


def kept_of(running_study: RunningStudy, sent: Mapping[str, str]) -> dict[str, str]:
    """Return the platform's parameters that the study keeps; malformed values are dropped."""
    params = {name: sent.get(name, "") for name in running_study.study.platform.keep}
    return {name: value for name, value in params.items() if GIVEN.fullmatch(value)}


def given_in(request: Request, running_study: RunningStudy) -> str:
    name = running_study.study.platform.participant
    return request.query_params.get(name, "") if name else ""


def wrong_link(request: Request, running_study: RunningStudy, platform_id: str) -> Response | None:
    """Return the error page of an incomplete link, or None if the link is valid."""
    platform = running_study.study.platform
    right = all(request.query_params.get(k) == v for k, v in platform.require.items())
    has_valid_label = not platform.labels or platform_id in platform.labels
    is_signed = not platform.signature or is_right_signature(
        platform_id, request.query_params.get(platform.signature, "")
    )
    if (
        right
        and has_valid_label
        and is_signed
        and (not platform.participant or GIVEN.fullmatch(platform_id))
    ):
        return None
    return common_notice(request, "bad_link", status=400)


def withdrawn_notice(request: Request) -> Response:
    """Tell a person who has withdrawn that they cannot take part again."""
    t = texts_for(request)
    return notice(request, t("withdraw.done"), t("withdraw.again"), status=409)


async def answer_returning_person(
    request: Request, running_study: RunningStudy, person: Person
) -> Response:
    """Respond to a known participant id that arrives from an unknown browser."""
    if person.state == ACTIVE and running_study.study.platform.resumes:
        cookie = secrets.token_urlsafe(32)
        await running_study.hand_over(person, cookie)
        return with_cookie(request, RedirectResponse(address(running_study), 303), cookie)
    if person.state == ACTIVE:
        return common_notice(request, "elsewhere", status=409)
    return common_notice(request, "already", status=409)


async def resume_page(request: Request, running_study: RunningStudy) -> Response:
    """Show the button of a resume link; opening the link changes nothing, since mail programs open
    links to preview them."""
    key = request.query_params.get("key", "")
    if await running_study.resumed_by(key) is None:
        return common_notice(request, "used_link", status=409)
    return page(request, "study/resume.html", study=running_study.study, key=key)


async def resume(request: Request, running_study: RunningStudy) -> Response:
    """Move the participant of a resume link to this browser."""
    person = await running_study.resumed_by((await form_of(request)).get("key", ""))
    if person is None:
        return common_notice(request, "used_link", status=409)
    cookie = secrets.token_urlsafe(32)
    await running_study.hand_over(person, cookie)
    return with_cookie(request, RedirectResponse(address(running_study), 303), cookie)


def address(running_study: RunningStudy) -> str:
    return f"/study/{running_study.study.name}"


async def sent_form(
    request: Request, running_study: RunningStudy, by_link: bool = False
) -> tuple[str, dict[str, str]]:
    """Return the cookie and fields of a form; raises Refused unless one of the study's pages sent
    it."""
    cookie = request.cookies.get(COOKIE, "")
    if not cookie:
        raise RequestRefused(403, running_study.texts("notice.old_page"))
    sent = await form_of(request)
    expected = running_study.secrets.form_token(cookie, sent.get("given", "") if by_link else None)
    if not secrets.compare_digest(sent.get("token", "").encode(), expected.encode()):
        raise RequestRefused(403, running_study.texts("notice.old_page"))
    return cookie, sent


async def consent(request: Request, running_study: RunningStudy) -> Response:
    """Accept the submitted consent form; nothing is stored before consent."""
    cookie, sent = await sent_form(request, running_study, by_link=True)
    platform_id = sent.get("given", "")
    if sent.get("answer") == "no":
        if await running_study.person_of_cookie(cookie) is None:
            await running_study.decline()
        return common_notice(request, "declined")
    if sent.get("agree") != "yes":
        return consent_page(
            request, running_study, cookie, platform_id, running_study.texts("consent.tick"), sent
        )
    if bool(running_study.study.platform.participant) != bool(GIVEN.fullmatch(platform_id)):
        raise RequestRefused(400, running_study.texts("notice.bad_link_text"))
    if platform_id and await running_study.withdrawn(platform_id):
        return withdrawn_notice(request)
    if (
        await running_study.join(cookie, platform_id, kept_of(running_study, sent)) is None
        and await running_study.person_of_cookie(cookie) is None
    ):
        if (
            platform_id
            and (participant := await running_study.person_of_platform(platform_id)) is not None
        ):
            return await answer_returning_person(request, running_study, participant)
        return notice(
            request, running_study.texts("notice.full"), running_study.texts("notice.full_now")
        )
    return RedirectResponse(address(running_study), 303)


# --- steps --------------------------------------------------------------------------------------


async def participant_page(
    request: Request,
    running_study: RunningStudy,
    person: Person,
    status: int = 200,
    **extra_facts: Any,
) -> Response:
    """Render a participant's current page."""
    place = await running_study.place(person) if person.state != participants.LAPSED else None
    if place is None:
        name = "lapsed"
    elif place.person.state == participants.FAILED:
        name = "failed"
    elif place.person.state != ACTIVE:
        name = "end"
    else:
        name = place.step.partition("-")[0]
    facts = facts_of(running_study, place) if place is not None else {}
    if place is not None and name == "chat":
        facts["chat"] = await running_study.chat(place)
    if place is not None and (earlier := page_again(request, place, len(facts["pages"]))) >= 0:
        name, facts = "instructions", {**facts, "n": earlier, "again": True}
    token = running_study.secrets.form_token(request.cookies[COOKIE])
    return page(
        request,
        f"study/{name}.html",
        status,
        study=running_study.study,
        token=token,
        late="late" in request.query_params,
        **{"wrong": {}, "sent": {}, **facts, **extra_facts},
    )


def page_again(request: Request, place: Position, pages: int) -> int:
    """Return the index of the instruction page that a participant reads again, or -1."""
    page_text = request.query_params.get("page", "")
    if not place.step.startswith(("instructions-", "check-")) or not page_text.isdecimal():
        return -1
    read = sum(key.startswith("instructions-") for key in place.given)
    return int(page_text) if len(page_text) < 4 and int(page_text) < min(read, pages) else -1


def facts_of(running_study: RunningStudy, place: Position) -> dict[str, Any]:
    study, person = running_study.study, place.person
    rule = pay_rule(study, place.condition, place.given)

    def drawn_games(place: Position) -> list[int]:
        rounds = rounds_in(study, place.condition, place.given)
        games = paid_games(study, place.condition, place.given, person.number, rounds)
        return [k + 1 for k in games]

    return {
        "step": place.step,
        "n": place.number if "-" in place.step else 0,
        "pages": study.pages(place.condition),
        "again": False,
        "read": sum(key.startswith("instructions-") for key in place.given),
        "rounds": study.rounds_of(place.condition),
        "table": f"{address(running_study)}/table#{place.token}&back={address(running_study)}"
        if place.token
        else "",
        "has_begun": place.has_begun,
        "text": block_page(running_study, place),
        "items": survey_items(study, place.condition, place.step, place.given)
        if place.step.startswith(SURVEY)
        else (),
        "is_last_survey": place.step == SURVEY,
        "has_survey": SURVEY in place.given,
        "debriefs": debriefs(study, place.condition, place.given),
        "bonus": rule,
        "pay": rule.parts(person.bonus),
        "drawn": drawn_games(place) if rule.random_games else [],
        "waiting": place.waiting,
        "waited": place.waited,
        "with_bot": FALLBACK in place.given,
        "with_model": MODEL in place.given,
        "practised": len(study.practice_games(place.condition)),
        "feedback": place.feedback,
        "person": person,
        "cut_short": cut_short(place),
        "back_to": study.completion.address(person.code) if study.completion.url else "",
    }


def block_page(running_study: RunningStudy, place: Position) -> str:
    """Return the text of the current page, if it belongs to the instructions for a block of games;
    else return an empty string."""
    kind, _, numbers = place.step.partition("-")
    if kind != "block":
        return ""
    block, page = map(int, numbers.split("-"))
    return place.condition.blocks[block].instructions[page]


def cut_short(place: Position) -> str:
    """Return why rounds were skipped, as a text of `game`, or an empty string."""
    if REMOVED in place.given:
        return "removed"
    hows = [v["how"] for k, v in place.given.items() if k.startswith("round-")]
    return next(
        (outcome for outcome in hows if outcome in ("left", "partner left", "no partner")), ""
    )


async def table(request: Request, running_study: RunningStudy) -> Response:
    """Show the page of a game."""
    return page(request, "play/table.html", study=running_study.study)


async def picture(request: Request, running_study: RunningStudy) -> Response:
    """Serve a picture that the study's texts use; no other file is served."""
    name = request.path_params["file"]
    if name not in running_study.study.pictures:
        return await nowhere(request)
    return FileResponse(running_study.folder / name)


async def go_on(request: Request, running_study: RunningStudy) -> Response:
    """Accept a submitted page; late or repeated submissions change nothing."""
    cookie, sent = await sent_form(request, running_study)
    person = await running_study.person_of_cookie(cookie)
    if person is None:
        return RedirectResponse(address(running_study), 303)
    if person.state != ACTIVE:
        return RedirectResponse(f"{address(running_study)}?late", 303)
    place, step = await running_study.place(person), sent.get("step", "")
    is_stored, wrong = await running_study.answer(place, step, sent)
    if wrong:
        return await participant_page(request, running_study, person, 422, wrong=wrong, sent=sent)
    late = not is_stored and step not in place.given
    return RedirectResponse(f"{address(running_study)}{'?late' if late else ''}", 303)


async def waiting(request: Request, running_study: RunningStudy) -> Response:
    """Return whether a participant still waits for a partner; the participant's browser polls
    it."""
    person = await running_study.person_of_cookie(request.cookies.get(COOKIE, ""))
    if person is None or person.state != ACTIVE:
        return JSONResponse({"waiting": False})
    place = await running_study.place(person)
    return JSONResponse({"waiting": place.waiting, "seconds": round(place.waited)})


async def chat(request: Request, running_study: RunningStudy) -> Response:
    """Return the state of a group's chat between two games; the members' browsers poll it."""
    person = await running_study.person_of_cookie(request.cookies.get(COOKIE, ""))
    place = None if person is None or person.state != ACTIVE else await running_study.place(person)
    if place is None or not place.step.startswith("chat-"):
        return JSONResponse({"over": True})
    return JSONResponse({"over": False, **msgspec.to_builtins(await running_study.chat(place))})


async def say(request: Request, running_study: RunningStudy) -> Response:
    """Accept a chat message."""
    cookie, sent = await sent_form(request, running_study)
    person = await running_study.person_of_cookie(cookie)
    if person is None or person.state != ACTIVE:
        return RedirectResponse(address(running_study), 303)
    place = await running_study.place(person)
    if not place.step.startswith("chat-"):
        return RedirectResponse(f"{address(running_study)}?late", 303)
    if refusal := await running_study.say(place, sent.get("text", "")):
        return await participant_page(
            request, running_study, person, 422, wrong={"chat": refusal}, sent=sent
        )
    return RedirectResponse(address(running_study), 303)


async def store_events(request: Request, running_study: RunningStudy) -> Response:
    """Store browser events, if the study logs them."""
    person = await running_study.person_of_cookie(request.cookies.get(COOKIE, ""))
    if not running_study.study.quality.log or person is None:
        raise RequestRefused(404, "This study does not log browser events.")
    try:
        report = msgspec.convert(await json_of(request), participants.BrowserEvents)
    except msgspec.ValidationError as error:
        raise RequestRefused(422, f"{error}.") from None
    await running_study.database.run(participants.keep_events, person.id, report.events)
    return Response(status_code=204)


async def withdrawing(request: Request, running_study: RunningStudy) -> Response:
    """Show the page that asks to confirm a withdrawal."""
    person = await running_study.person_of_cookie(request.cookies.get(COOKIE, ""))
    if person is None:
        return RedirectResponse(address(running_study), 303)
    token = running_study.secrets.form_token(request.cookies[COOKIE])
    return page(request, "study/withdraw.html", study=running_study.study, token=token)


async def withdraw(request: Request, running_study: RunningStudy) -> Response:
    """Withdraw a participant and delete their data."""
    cookie, _ = await sent_form(request, running_study)
    person = await running_study.person_of_cookie(cookie)
    if person is not None:
        await running_study.withdraw(person)
        await export_again(running_study, store_of(request, running_study))
    answer = notice(
        request,
        running_study.texts("withdraw.done"),
        running_study.texts("withdraw.deleted"),
        running_study.texts("withdraw.done_copies"),
    )
    answer.delete_cookie(COOKIE, path="/study")
    return answer


ROUTES: list[BaseRoute] = [
    Route("/study/{name}", link),
    Route("/study/{name}/consent", for_participants(consent), methods=["POST"]),
    Route("/study/{name}/next", for_participants(go_on), methods=["POST"]),
    Route("/study/{name}/resume", for_participants(resume_page)),
    Route("/study/{name}/resume", for_participants(resume), methods=["POST"]),
    Route("/study/{name}/table", for_participants(table)),
    Route("/study/{name}/files/{file}", for_participants(picture)),
    Route("/study/{name}/events", for_participants(store_events), methods=["POST"]),
    Route("/study/{name}/waiting", for_participants(waiting)),
    Route("/study/{name}/chat", for_participants(chat)),
    Route("/study/{name}/chat", for_participants(say), methods=["POST"]),
    Route("/study/{name}/withdraw", for_participants(withdrawing)),
    Route("/study/{name}/withdraw", for_participants(withdraw), methods=["POST"]),
    Route("/study/{rest:path}", nowhere),
]
