"""Every shipped study that a model can play, over HTTP, with faults: one command finishes it."""

from __future__ import annotations

import json
import logging
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from sally import store
from sally.cli import cli, main
from sally.core.errors import BadInput
from sally.core.log.events import Instance
from sally.core.registry import registry
from sally.core.registry.study import Cell, PlayerSpec, Study
from sally.runner import gates
from sally.runner.models import OPEN, models_of
from tests.adapters.inspect.server import Fault, Handler, serving

pytest.importorskip("openai", reason="the local server speaks the language of openai-api")

# Length is not what is tested: where a game has one of these, its episodes are this short
SHORTER = {"boards": 1, "max_turns": 2, "hints": 2, "pass_limit": 2}
DECK = {"copies": (1, 1, 1)}  # each card of Hanabi once: nine, of which six are dealt
TWO_ROUNDS = ["--set", "rounds=2"]
NO_LM = ["--without", "lm", "--without", "social_lm"]
CHAT = [*TWO_ROUNDS, *NO_LM[:2]]
SCORING = {
    "causal_acting": NO_LM[:2],
    "riemer2025": NO_LM,
    "quickstart_model": NO_LM[:2],
    "knowing_doing": NO_LM,
}  # the server cannot score
LARGER = ("sally_1_m", "sally_1_l")  # contain sally_1, and cells of the same kinds
# shipped ones only: other tests put studies of their own on the shelf of this process
STUDIES = sorted(
    study.name
    for study in (
        *registry._shipped_entries("studies").values(),
        *registry._from_parts("studies").values(),
    )
    if OPEN in models_of(study) and study.name not in LARGER
)
REPLIES = ("Answer: 1", "Option: J", "Option: F", "purple {[ dishwasher", "", "Option: R")


def unsteady(seed: int) -> Fault:
    """Sometimes an answer, sometimes nonsense, sometimes 429 or 500."""
    luck, lock = random.Random(seed), Lock()

    def say(handler: Handler) -> None:
        with lock:
            numbers, text = luck.random(), luck.choice(REPLIES)
        if numbers < 0.03:
            handler.send(429, b'{"error": {"message": "slow down"}}', {"retry-after": "0.05"})
        elif numbers < 0.06:
            handler.send(500, b'{"error": {"message": "oops"}}')
        else:
            handler.say(text)

    return say


def no_such_model(handler: Handler) -> None:
    handler.send(404, b'{"error": {"message": "The model weak is not served here."}}')


@contextmanager
def config(folder: Path, always: Fault, kind: str = "openai-api/lab") -> Iterator[Path]:
    with serving(always=always) as server:
        file = folder / "sally.toml"
        file.write_text(
            f'[models.weak]\nname = "{kind}/weak"\nbase_url = "{server.address}"\n'
            'api_key_env = "LAB_KEY"\n[limits]\nfirst_wait = 0.01\n'
        )
        yield file


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "abcdefgh")


def command(study: str, config: Path, out: Path, *options: str) -> list[str]:
    return ["run", study, "--model", "weak", "--config", str(config), "--out", str(out), *options]


def shorter(name: str) -> Study:
    """Return a shipped study in short episodes: each kind of lineup with a model, once a game.

    Each kind of player comes to a second round in the first cell that has it.
    """
    study: Study = registry.study(name)
    pairs, played, cells = set[tuple[str, object]](), set[tuple[object, ...]](), []
    for cell in study.cells:
        if OPEN not in models_of(replace(study, cells=(cell,))):
            continue  # bots alone: nothing of theirs goes over HTTP
        games = frozenset(instance.game for instance in cell.instances)
        lineups = []
        for lineup in cell.lineups:
            kind = (games, tuple(sorted(cell.arms.items())), *map(_kind, lineup.items()))
            if kind not in played:
                lineups.append(lineup)
            played.add(kind)
        if not lineups:
            continue
        everybody = [player for lineup in lineups for player in lineup.values()]
        kinds = {(player.player, player.params.get("strategy")) for player in everybody}
        seated = cell.lineups[:1] if cell.paired else tuple(lineups)
        few = replace(cell, instances=cell.instances[:1], lineups=seated, repeats=1)
        cells.append(_shorter(few, {"rounds": 1 if kinds <= pairs else 2, **SHORTER, **DECK}))
        pairs |= kinds
    return replace(study, retries=1, cells=tuple(cells))


def _kind(seated: tuple[str, PlayerSpec]) -> tuple[object, ...]:
    seat, player = seated
    return seat, player.player, player.params.get("strategy")


def _shorter(cell: Cell, given: dict[str, object]) -> Cell:
    def short(item: Instance) -> Instance:
        if item.position:  # its past has a length of its own
            return item
        known_parameters = registry.game(item.game).parameters
        less = {k: given[k] for k in given if k in known_parameters}
        # the same problem may be longer in one cell than in another, so it has another id there
        return replace(item, id=f"{item.id} {less}", params={**item.params, **less})

    return replace(cell, instances=tuple(map(short, cell.instances)))


def typed(given: list[str]) -> Result:
    """The command in this process, where the libraries are loaded once for all studies."""
    return CliRunner().invoke(cli, given)


@pytest.mark.parametrize("study", STUDIES)
def test_one_command_finishes_every_episode_of_a_study(
    study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setitem(registry._added["studies"], study, shorter(study))
    monkeypatch.setattr(gates, "MOST_UNREADABLE", 10**9)  # no reply is an answer in Hanabi
    monkeypatch.setattr(registry, "_results", {})
    assert registry.study(study).retries == 1  # not the study of full length, from the cache
    options = SCORING.get(study, [])
    with config(tmp_path, unsteady(5)) as file:
        done = typed(command(study, file, out, "--json", *options))
    data = json.loads(done.stdout)
    assert data["not_run"] == 0 and data["episodes"] > 0
    # such a server's nonsense can make every episode void, which the exit code must say
    assert done.exit_code == (3 if data["void"] == data["episodes"] else 0), done.stderr[-2000:]
    survey = store.survey(out)
    assert not survey.cut and survey.episodes == data["episodes"]


def test_provider_refusing_every_call_stops_run_with_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with config(tmp_path, no_such_model) as file, pytest.raises(SystemExit) as done:
        few = ["--limit", "1", *TWO_ROUNDS]
        arguments = command("brockbank2024", file, tmp_path / "out", *few)
        monkeypatch.setattr(sys, "argv", ["sally", *arguments])
        main()
    errors = capfd.readouterr().err
    assert done.value.code == 3  # episodes are missing
    assert "The model weak is not served here" in errors
    assert "Traceback" not in errors and "RetryError" not in errors


def test_chat_only_server_is_reached_through_openai_provider(tmp_path: Path) -> None:
    def warned(handler: Handler) -> None:
        logging.getLogger("inspect_ai.model").warning("a library's warning")
        handler.say("Option: J")

    with config(tmp_path, warned, "openai") as file:
        arguments = command("quickstart_model", file, tmp_path / "out", "--limit", "1", "--json")
        done = typed([*arguments, *CHAT])
    assert done.exit_code == 0, done.stderr[-2000:]
    assert json.loads(done.stdout)["not_run"] == 0  # JSON alone, whatever a library says


def test_partial_study_keeps_episode_ids_of_full_study(tmp_path: Path) -> None:
    with config(tmp_path, lambda handler: handler.say("Option: J")) as file:
        arguments = command("riemer2025", file, tmp_path / "out", "--limit", "1", "--json")
        part = [*TWO_ROUNDS, "--table", "4", "--game", "ipd"]
        done, other_result = typed([*arguments, *part]), typed([*arguments, "--cell", "no such"])
    assert done.exit_code == 0, done.stderr[-2000:]
    episodes = store.load(tmp_path / "out").episodes.values()
    assert {e.setup.instance.game for e in episodes} == {"ipd"}
    assert all(e.cell.startswith("table 4:") for e in episodes)
    assert isinstance(other_result.exception, BadInput)
    assert "No cell of riemer2025 matches --cell no such" in str(other_result.exception)
