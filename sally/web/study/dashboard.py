"""The experimenter's pages of a study, under /experimenter/study."""

from __future__ import annotations

import asyncio
import io
import logging
import secrets
import zipfile
from pathlib import Path
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from sally.core.errors import BadInput
from sally.core.log.events import to_line
from sally.web.security import RequestRefused, experimenter_required, form_token, page
from sally.web.study import participants
from sally.web.study.export import (
    FILE,
    episodes_and_rows,
    note_export,
    psych_ds_files,
    put_into_store,
    withdrawn,
)
from sally.web.study.progress import participant_facts, participant_rows, payments, progress
from sally.web.study.rules import rules_of
from sally.web.study.running_study import RunningStudy
from sally.web.study.steps import step_text

LOG = logging.getLogger("sally.web")
COOKIE = "sally_participant"
MOST_REASON = 200  # characters of the reason for an exclusion
COOKIE_SECONDS = 30 * 24 * 3600


def running(request: Request) -> RunningStudy:
    """Return the study that the query names, or the only one; raises Refused."""
    studies: dict[str, RunningStudy] = request.app.state.studies
    if not studies:
        raise RequestRefused(
            404, "This server runs no study; start `sally serve --study FILE.toml`."
        )
    name = request.query_params.get("study", next(iter(studies)) if len(studies) == 1 else "")
    if name not in studies:
        raise RequestRefused(
            404, f"Name a study in the address, as in ?study={next(iter(studies))}."
        )
    return studies[name]


async def overview(request: Request) -> Response:
    """Show progress by condition and the list of participants; without a name, list all studies."""
    studies: dict[str, RunningStudy] = request.app.state.studies
    if len(studies) > 1 and "study" not in request.query_params:
        study_progress = [
            (running_study.study, await progress(running_study))
            for running_study in studies.values()
        ]
        return page(
            request, "study/studies.html", studies=study_progress, form_token=form_token(request)
        )
    running_study = running(request)
    text = request.query_params.get("find", "").strip()
    facts, problem = None, ""
    if text:
        try:
            facts = await participant_facts(running_study, await running_study.find(text))
        except BadInput as error:
            problem = str(error)
    name = "study/counts.html" if "live" in request.query_params else "study/progress.html"
    return page(
        request,
        name,
        study=running_study.study,
        progress=await progress(running_study),
        people=await participant_rows(running_study),
        rules=rules_of(running_study.study),
        store=store_of(request, running_study),
        form_token=form_token(request),
        said=request.query_params.get("said", ""),
        what=request.query_params.get("what", ""),
        withdrawn=[code for code, _ in await withdrawn(running_study)],
        test=request.app.state.settings.test,
        find=text,
        facts=facts,
        problem=problem,
        step_text=step_text,
    )


def store_of(request: Request, running_study: RunningStudy) -> Path | None:
    """Return the store for exports of this study, or None if the server stores no episodes."""
    out: Path | None = request.app.state.settings.out
    return None if out is None else out.with_name(running_study.study.name)


async def export(request: Request) -> Response:
    """Export the study to its store."""
    running_study = running(request)
    store = store_of(request, running_study)
    if store is None:
        raise RequestRefused(409, "This server has no store; download the episodes instead.")
    try:
        episodes = await put_into_store(running_study, store)
    except BadInput as error:
        raise RequestRefused(409, str(error)) from None
    return redirect_with_message(running_study, "exported", str(episodes))


def redirect_with_message(running_study: RunningStudy, action: str, detail: str) -> Response:
    """Redirect to the overview, which then shows a message about what was done."""
    message_query = urlencode({"study": running_study.study.name, "what": action, "said": detail})
    return RedirectResponse(f"/experimenter/study?{message_query}", 303)


async def withdraw(request: Request) -> Response:
    """Delete the data of a participant who asked for it, by e-mail for example."""
    running_study, sent = running(request), request.state.form
    if sent.get("sure") != "yes":
        raise RequestRefused(
            422, "Tick the box to confirm that the data of this participant will be deleted."
        )
    try:
        person = await running_study.find(sent.get("participant", "").strip())
    except BadInput as error:
        raise RequestRefused(404, str(error)) from None
    await running_study.withdraw(person)
    await export_again(running_study, store_of(request, running_study))
    return redirect_with_message(
        running_study, "withdrawn", running_study.secrets.export_id(person)[:8]
    )


async def export_again(running_study: RunningStudy, store: Path | None) -> None:
    """Repeat this server's own export, if any, so that it drops withdrawn participants."""
    if store is None or not (store / FILE).exists():
        return
    try:
        await put_into_store(running_study, store)
    except (BadInput, OSError) as error:
        LOG.error(
            '%s still holds data of a withdrawn participant; press "Export to the store" on '
            "/experimenter/study: %s",
            *(store, error),
        )


async def purge_codes(request: Request) -> Response:
    """Delete the list of withdrawn participants' codes, once their data have been removed from
    earlier copies."""
    running_study = running(request)
    await running_study.database.run(participants.forget_codes, running_study.study.name)
    await asyncio.to_thread(participants.wipe, running_study.database)
    return redirect_with_message(running_study, "purged", "")


async def help_on(request: Request) -> Response:
    """Advance a stuck participant by one step, end or exclude the participation, or readmit."""
    running_study, sent = running(request), request.state.form
    try:
        person = await running_study.find(sent.get("participant", "").strip())
        code = running_study.secrets.export_id(person)[:8]
        if sent.get("action") == "advance":
            return redirect_with_message(
                running_study, "advanced", await running_study.advance(person)
            )
        if sent.get("action") == "remove":
            await running_study.remove(person)
            return redirect_with_message(running_study, "removed", code)
        if sent.get("action") == "exclude":
            reason = " ".join(sent.get("reason", "").split())[:MOST_REASON]
            await running_study.exclude(person, reason or "by the experimenter")
            return redirect_with_message(running_study, "excluded", code)
        if sent.get("action") == "readmit":
            await running_study.readmit(person)
            return redirect_with_message(running_study, "readmitted", code)
    except BadInput as error:
        raise RequestRefused(409, str(error)) from None
    raise RequestRefused(400, "action must be advance, remove, exclude or readmit.")


async def play_as(request: Request) -> Response:
    """In test mode, continue in this browser as an existing participant or as a new one."""
    running_study, sent = running(request), request.state.form
    if not request.app.state.settings.test:
        raise RequestRefused(403, "Start the server with --test to play as a participant.")
    if not (code := sent.get("participant", "")):
        return begin_anew(running_study)
    try:
        person = await running_study.find(code)
    except BadInput as error:
        raise RequestRefused(404, str(error)) from None
    cookie = secrets.token_urlsafe(32)
    await running_study.hand_over(person, cookie)
    return with_cookie(request, RedirectResponse(f"/study/{running_study.study.name}", 303), cookie)


def begin_anew(running_study: RunningStudy) -> Response:
    """Open the study's link as a new test participant would."""
    labels = running_study.study.platform.labels
    name = secrets.choice(labels) if labels else f"test-{secrets.token_hex(4)}"
    answer = RedirectResponse(running_study.study.link(name), 303)
    answer.delete_cookie(COOKIE, path="/study")
    return answer


def with_cookie(request: Request, answer: Response, cookie: str) -> Response:
    """Set a participant's cookie with SameSite=Lax, because participants follow a link from a
    platform."""
    answer.set_cookie(
        COOKIE,
        cookie,
        max_age=COOKIE_SECONDS,
        path="/study",
        httponly=True,
        samesite="lax",
        secure=request.app.state.settings.secure,
    )
    return answer


async def download_episodes(request: Request) -> Response:
    await note_export(running(request))
    episodes, _ = await episodes_and_rows(running(request))
    return attachment(b"".join(map(to_line, episodes)), "episodes.jsonl", "application/jsonl")


async def download_people(request: Request) -> Response:
    await note_export(running(request))
    _, rows = await episodes_and_rows(running(request))
    data = msgspec.json.format(msgspec.json.encode(rows), indent=2)
    return attachment(data, "people.json", "application/json")


async def download_payments(request: Request) -> Response:
    return attachment((await payments(running(request))).encode(), "payments.csv", "text/csv")


async def download_tables(request: Request) -> Response:
    await note_export(running(request))
    files, out = await psych_ds_files(running(request)), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as folder:
        for name, data in files.items():
            folder.writestr(name, data)
    return attachment(out.getvalue(), "psych-ds.zip", "application/zip")


def attachment(data: bytes, name: str, kind: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=kind, headers=headers)


ROUTES: list[BaseRoute] = [
    Route("/experimenter/study", experimenter_required(overview)),
    Route("/experimenter/study/export", experimenter_required(export), methods=["POST"]),
    Route("/experimenter/study/withdraw", experimenter_required(withdraw), methods=["POST"]),
    Route("/experimenter/study/purged", experimenter_required(purge_codes), methods=["POST"]),
    Route("/experimenter/study/help", experimenter_required(help_on), methods=["POST"]),
    Route("/experimenter/study/play_as", experimenter_required(play_as), methods=["POST"]),
    Route("/experimenter/study/episodes.jsonl", experimenter_required(download_episodes)),
    Route("/experimenter/study/people.json", experimenter_required(download_people)),
    Route("/experimenter/study/psych-ds.zip", experimenter_required(download_tables)),
    Route("/experimenter/study/payments.csv", experimenter_required(download_payments)),
]
