"""`sally people`: prepare, rehearse and export studies with people, without a running server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sally.core.errors import BadInput, needs_extra
from sally.core.event_loop import run_coroutine
from sally.core.terminal_text import echo
from sally.output.tables.console import (
    PATH,
    PLAYED,
    SEED,
    F,
    FiniteNumber,
    json_option,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from sally.web.study.definition import Condition, HumanStudy
    from sally.web.study.running_study import RunningStudy

database_option = click.option(
    "--database",
    default="sally-serve/database.sqlite",
    show_default=True,
    help="Database of the server: a file, or postgresql://user@host/name.",
)
session_option = click.option("--session", default="", help="Session of the study file.")
file_argument = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
id_argument = click.argument("participant", metavar="ID")


def stored_study(command: F) -> F:
    """Add the argument FILE and the options that name its session and its database."""
    return file_argument(database_option(session_option(command)))


@click.group()
def people() -> None:
    """Run studies with people: check, rehearse, payments, export."""
    with needs_extra("web"):
        import starlette  # noqa: F401  the pages of a study need it


@people.command()
@click.argument("study", required=False)
@click.option("--language", default="en", show_default=True, help="Language: en or de.")
def template(study: str | None, language: str) -> None:
    """Print a small working study to start from.

    STUDY names another one: full (every part that a study file can have, with comments), blocks
    (a complete study in blocks) or pairs (24 certified pairs, scored as for models).
    """
    from sally.core.errors import unknown
    from sally.web.study.definition import EXAMPLES, TEMPLATES

    if study is not None:
        if study not in TEMPLATES:
            raise unknown("study template", study, TEMPLATES)
        echo(TEMPLATES[study].read_text(encoding="utf-8").rstrip("\n"))
        return
    if language not in EXAMPLES:
        raise unknown("study template for the language", language, EXAMPLES)
    echo(EXAMPLES[language].read_text(encoding="utf-8").rstrip("\n"))


@people.command("check")
@file_argument
@json_option
def check_(file: Path, as_json: bool) -> None:
    """Check FILE and print the study it describes, or what is wrong with it."""
    from sally.web.study.definition import read_human_studies

    studies = read_human_studies(file)
    if as_json:
        descriptions = [_describe_study(study) for study in studies]
        print_json(descriptions[0] if len(descriptions) == 1 else descriptions)
        return
    for study in studies:
        _print_checked(study, file)


def _describe_study(study: HumanStudy) -> dict[str, Any]:
    """Return the output of `check --json` for a study."""
    return {
        "study": study.name,
        "participants": study.participants,
        "conditions": [row for c in study.conditions for row in _condition_rows(study, c)],
        "untranslated": study.untranslated_games,
    }


def _print_checked(study: HumanStudy, file: Path) -> None:
    description = _describe_study(study)
    rows, english = description["conditions"], description["untranslated"]
    print_table(rows, tuple(rows[0]))
    if english:
        echo(
            f"Shown in English, because no words pack is given: {', '.join(english)} "
            '(`words = { GAME = "PACK.toml" }` names one).'
        )
    echo(f"{study.name}: {study.participants} participants; {file} is valid.")


def _condition_rows(study: HumanStudy, condition: Condition) -> list[dict[str, Any]]:
    """Return one row per block of a condition, or one for all of its pairs."""
    if condition.pairs is not None:
        return [
            {
                "condition": condition.name,
                "wanted": f"{study.places(condition):g}",
                "people": None,
                "others": "those of each pair",
                "asked": "prediction and move",
                "instances": f"{condition.pairs.count} pairs",
                "rounds": study.rounds_of(condition),
            }
        ]
    labels = [f"{condition.name}: {block.name}" for block in condition.blocks] or [condition.name]
    return [
        {
            "condition": name,
            "wanted": f"{study.places(condition):g}",
            "people": ", ".join(layout.people),
            "others": ", ".join(f"{s} {spec.player}" for s, spec in layout.others.items()) or None,
            "asked": ", ".join(p for probes in layout.arms.values() for p in probes) or None,
            "instances": len(instances),
            "rounds": rounds,
        }
        for name, (instances, rounds, layout) in zip(labels, study.blocks(condition), strict=True)
    ]


@people.command()
@stored_study
@json_option
def progress(file: Path, database: str, session: str, as_json: bool) -> None:
    """Print the progress of the study in FILE; a running server shows it at /experimenter/study."""
    import msgspec

    from sally.web.study.progress import progress as counted

    report = _with(file, session, database, counted, read_only=True)
    if as_json:
        print_json(msgspec.to_builtins(report))
        return
    rows = [
        {"condition": cell.condition, **cell.states, "wanted": f"{cell.wanted:g}"}
        for cell in report.cells
    ]
    names = dict.fromkeys(key for row in rows for key in row)
    print_table(rows, tuple(names))
    echo(", ".join(f"{state} {n}" for state, n in report.states.items()))


@people.command()
@file_argument
@click.option(
    "--people",
    "many",
    default=20,
    type=PLAYED,
    show_default=True,
    help="Number of scripted participants.",
)
@click.option(
    "--drop-out",
    type=FiniteNumber(0, 1),
    default=0.05,
    show_default=True,
    help="Probability that a participant leaves before the end.",
)
@click.option(
    "--seed", default=1, type=SEED, show_default=True, help="Seed of the scripted participants."
)
@session_option
@click.option("--database", default="", help="Database for the rehearsal [a temporary file].")
@click.option("--out", type=PATH, help="Folder for episodes and tables.")
@json_option
def rehearse(
    file: Path,
    many: int,
    drop_out: float,
    seed: int,
    session: str,
    database: str,
    out: Path | None,
    as_json: bool,
) -> None:
    """Rehearse the study in FILE with scripted participants.

    Prints who would finish, what would be exported and what would be paid.
    """
    import msgspec

    from sally.web.rehearsal import rehearse as rehearsed
    from sally.web.study.definition import read_human_study

    study = read_human_study(file, session)
    outcome = run_coroutine(rehearsed(file, study, many, drop_out, seed, database, out))
    if as_json:
        print_json(msgspec.to_builtins(outcome))
        return
    rows = [{"condition": name, **states} for name, states in outcome.conditions.items()]
    print_table(rows, tuple(dict.fromkeys(key for row in rows for key in row)))
    echo(f"{outcome.episodes} games; rows: {_facts_text(outcome.rows)}.")
    if any("active" in states for states in outcome.conditions.values()):
        echo("Active: left without notice; the server still waits for them.")
    limit = f"{outcome.at_the_limit} would reach the maximum payment"
    echo(f"Pay ({study.bonus.currency}): {_facts_text(outcome.pay)}; {limit}.")
    for fault in outcome.faults:
        echo(f"The server failed: {fault}.", err=True)


def _facts_text(facts: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.items())


@people.command("list")
@stored_study
@json_option
def list_(file: Path, database: str, session: str, as_json: bool) -> None:
    """List the participants of the study in FILE: state, time, cell, attention checks."""
    from sally.web.study.progress import participant_rows

    rows = _with(file, session, database, participant_rows, read_only=True)
    if as_json:
        print_json(rows)
    elif rows:
        print_table([_in_line(row) for row in rows], tuple(_in_line(rows[0])))
    else:
        echo("No participant has started yet.")


def _in_line(row: dict[str, Any]) -> dict[str, Any]:
    """Return a participant's row, shortened for the terminal; exports have the full participant
    code."""
    short = {"condition": "cell", "attention": "checks"}
    columns = {short.get(key, key): value for key, value in row.items() if key != "participant"}
    return {"who": row["participant"][:8], **columns, "minutes": f"{row['minutes']:.1f}"}


@people.command()
@stored_study
@click.option("--out", type=PATH, required=True, help="CSV file to write.")
def payments(file: Path, database: str, session: str, out: Path) -> None:
    """Write each participant's base pay and bonus; only this file holds the platform's ids."""
    from sally.web.study.progress import payments as paid

    out.write_text(_with(file, session, database, paid, read_only=True), encoding="utf-8")
    out.chmod(0o600)
    echo(f"{out} holds the platform's ids: delete it once all participants are paid.")


@people.command("export")
@stored_study
@click.option("--out", type=PATH, required=True, help="Folder to write to.")
@json_option
def export_(file: Path, database: str, session: str, out: Path, as_json: bool) -> None:
    """Export the participants' games to a store that other commands such as `sally score` can read.

    The server may be running; games in progress are left out.
    """
    from sally.web.study import export

    async def write_games(running: RunningStudy) -> tuple[int, list[str]]:
        episodes = await export.put_into_store(running, out)
        return episodes, [code for code, _ in await export.withdrawn(running)]

    episodes, codes = _with(file, session, database, write_games, shared=True)
    if as_json:
        print_json({"episodes": episodes, "out": str(out), "withdrawn": codes})
        return
    echo(f"{episodes} episodes are in {out}; {out}/people.json lists the participants.")
    if codes:
        echo(f"Withdrawn; delete from earlier copies: {', '.join(codes)}")


@people.command("find")
@stored_study
@id_argument
@json_option
def find_(file: Path, participant: str, database: str, session: str, as_json: bool) -> None:
    """Print all about one participant of the study in FILE, also while the server is running.

    ID is the platform's id, the code of the exports (or its first eight characters), or a personal
    completion code. An active participant who lost the cookie continues by the printed link.
    """
    from sally.web.study.progress import participant_facts
    from sally.web.study.steps import step_text

    async def look(running: RunningStudy) -> dict[str, Any]:
        return await participant_facts(running, await running.find(participant))

    facts = _with(file, session, database, look, read_only=True)
    if as_json:
        print_json(facts)
        return
    for name, value in facts.items():
        if value is not None:
            words = step_text(value) if name == "step" else value
            echo(f"{name.replace('_', ' ')}: {words}")


def _help_one(file: Path, session: str, database: str, participant: str, act: Any) -> str:
    """Call `act` with the study and a participant; return the short code for the message."""

    async def change(running: RunningStudy) -> str:
        person = await running.find(participant)
        outcome = await act(running, person)
        return outcome or running.secrets.export_id(person)[:8]

    return str(_with(file, session, database, change))


@people.command("advance")
@stored_study
@id_argument
def advance_(file: Path, participant: str, database: str, session: str) -> None:
    """Skip the step at which a participant of the study in FILE is stuck.

    ID is as for `find`. The server must be stopped; a running server has a button for this at
    /experimenter/study.
    """

    from sally.web.study.steps import step_text

    step = _help_one(file, session, database, participant, lambda study, p: study.advance(p))
    echo(f"The step {step_text(step)} was skipped.")


@people.command("exclude")
@click.option("--reason", required=True, help="Reason, for the exported row.")
@stored_study
@id_argument
def exclude_(file: Path, participant: str, reason: str, database: str, session: str) -> None:
    """Exclude a participant of the study in FILE: the pay stays, the place is free again.

    ID is as for `find`. The server must be stopped; a running server has a button for this at
    /experimenter/study.
    """

    code = _help_one(
        file, session, database, participant, lambda study, person: study.exclude(person, reason)
    )
    echo(f"{code} was excluded; the place is free for another person.")


@people.command("readmit")
@stored_study
@id_argument
def readmit_(file: Path, participant: str, database: str, session: str) -> None:
    """Let a lapsed participant of the study in FILE go on at the step where they stopped.

    ID is as for `find`. The server must be stopped; a running server has a button for this at
    /experimenter/study.
    """

    code = _help_one(file, session, database, participant, lambda study, p: study.readmit(p))
    echo(f"{code} can go on.")


@people.command("link")
@file_argument
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@session_option
def link_(file: Path, ids: tuple[str, ...], session: str) -> None:
    """Print the link of the study in FILE for each platform id, signed where the study says so.

    Signed links need the key of the platform in the environment variable SALLY_LINK_SECRET.
    """
    from sally.web.study.definition import read_human_study

    study = read_human_study(file, session)
    for platform_id in ids:
        echo(study.link(platform_id))


@people.command("withdraw")
@stored_study
@id_argument
@click.option("--yes", is_flag=True, help="Delete without asking.")
def withdraw_(file: Path, participant: str, database: str, session: str, yes: bool) -> None:
    """Delete all data of one participant in the study in FILE.

    ID is the platform's id, the code of the exports, or a personal completion code. The server
    must be stopped; a running server has a button for this at /experimenter/study.
    """

    async def erase(running: RunningStudy) -> str:
        person = await running.find(participant)
        code = running.secrets.export_id(person)
        if not yes:
            click.confirm(
                f"Delete all data of {code[:8]} ({person.state}, {person.condition})?", abort=True
            )
        await running.withdraw(person)
        return code

    code = _with(file, session, database, erase)
    echo(f"The data of {code[:8]} were deleted; export again to rewrite exported files.")


def _with(
    file: Path,
    session: str,
    database: str,
    act: Any,
    read_only: bool = False,
    shared: bool = False,
) -> Any:
    """Call `act` with the study; unless `read_only` or `shared` is set, the server must be
    stopped."""
    from sally.web import database as databases
    from sally.web.live.matches import LiveMatches
    from sally.web.study import participants
    from sally.web.study.definition import read_human_study
    from sally.web.study.running_study import RunningStudy

    study = read_human_study(file, session)
    if "://" not in database and not Path(database).is_file():
        raise BadInput(
            f"There is no database {database}; name the server's database with --database."
        )

    async def run() -> Any:
        schema = (*databases.SCHEMA, *participants.SCHEMA)
        study_database = databases.Database(database, schema, read_only, shared)
        try:
            study_database.open()
        except BadInput as error:
            if "Another server already uses" not in str(error):
                raise
            raise BadInput(
                f"{error} Stop it, or use the buttons on its page /experimenter/study."
            ) from None
        try:
            matches = LiveMatches(study_database, None)
            prepare = participants.load_secrets if read_only or shared else participants.prepare
            secrets = await prepare(study_database, study)
            return await act(RunningStudy(study, secrets, study_database, matches))
        finally:
            study_database.close()

    return run_coroutine(run())
