"""A key and a password, planted wherever they may occur, are in no output: for every player that
calls a model, every provider that is sent a key, and the web."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.core import redaction
from sally.core.log.events import Instance, PlayerSpec, Setup, to_line
from sally.core.prompt.model import ModelFailure, ModelKind, Reply, ToolCall
from sally.core.registry import registry
from sally.models.stub import Scripted, even
from sally.runner.config import use_config
from sally.runner.local import play
from sally.runner.seating import kinds, resolve_setup
from tests.adapters.inspect.server import Handler, serving
from tests.canary import betrayals, contents, forms, parts

KEY = "lab-Zq7Xw2Vb9Nm4Kd6Ts1"
ELSEWHERE = "pw-Hj3Lp8Rc5Yt0Gf2Sa9"  # a secret of the environment that no provider is sent
PASSWORD = "web-Qm4Zt9Wk2Bx7Ld5Vn1"
WRONG = "web-Uc6Yr1Ph8Eo3Jg0Mi4"


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The key of a provider and another secret, both in the environment."""
    monkeypatch.setattr(redaction, "_used_keys", set())
    monkeypatch.setenv("LAB_KEY", KEY)
    monkeypatch.setenv("DATABASE_PASSWORD", ELSEWHERE)
    redaction.known_keys.cache_clear()
    yield
    redaction.known_keys.cache_clear()


# --- every player that calls a model --------------------------------------------------------------


def model_players() -> list[tuple[str, str, dict[str, Any]]]:
    """Game, player and parameters: each kind of player in each of its games, each strategy once."""
    triples: list[tuple[str, str, dict[str, Any]]] = []
    for game in sorted(registry.entries("games")):
        spec = registry.game(game)
        triples += [
            (game, name, {}) for name, kind in kinds(spec).items() if "model" in kind.params
        ]
    strategies = registry.entries("strategies").values()
    plain = [s.name for s in strategies if "told" not in s.needs and s.name != "qa"]
    return triples + [("ipd", "language", {"strategy": name}) for name in sorted(plain)]


def echo(how: str) -> Scripted:
    """A model whose provider repeats its key: in an error, in a reply, or in both by turns."""
    calls = iter(range(10**6))

    def script(messages: Any, settings: Any) -> Reply:
        n = next(calls)
        form = forms(KEY)[n % len(forms(KEY))]
        if how == "fault" or (how == "some faults" and n % 3 == 0):
            kind = "auth" if how == "fault" else "server"
            raise ModelFailure(kind, f"rejected key {KEY} ({form}) of {ELSEWHERE}")
        text = f"Thinking of {form}\nOption: J\nAnswer: 1\nSay: {form}"
        called = (ToolCall(form, "look", json.dumps({"at": form})),) if n % 5 == 4 else ()
        return Reply(text, called, reasoning=f"so {form}")

    def score(context: Any, candidate: str) -> float:
        if how != "reply":
            raise ModelFailure("auth", f"rejected key {KEY} of {ELSEWHERE}")
        return even(context, candidate)

    return Scripted(script, score)


@pytest.mark.parametrize("how", ["fault", "some faults", "reply"])
@pytest.mark.parametrize(
    ("game", "player", "params"),
    model_players(),
    ids=lambda value: value if isinstance(value, str) else value.get("strategy", ""),
)
def test_key_that_a_provider_repeats_is_in_no_line(
    game: str, player: str, params: dict[str, Any], how: str
) -> None:
    redaction.remember(KEY)
    registry.add("models", "canary", ModelKind("canary", "a stub", lambda name: echo(how)))
    registry._make_model.cache_clear()
    spec = registry.game(game)
    rules = spec.build({})
    seat = str(rules.helpers[0] if player == "model" else rules.seats[0])
    others = {
        str(current_seat): PlayerSpec("random")
        for current_seat in rules.seats
        if current_seat != seat
    }
    lineup = {**others, seat: PlayerSpec(player, {"model": "canary", **params})}
    if player == "model":  # the reader of what a persuader says
        lineup["persuader"] = PlayerSpec("language", {"model": "canary"})
    setup = resolve_setup(Setup(Instance(game, game, {}), 1, lineup))
    line = to_line(play(setup))
    is_scored = "scoring" in registry.entries("strategies")[params.get("strategy", "qa")].needs
    assert b"[key]" in line or (is_scored and how == "reply")  # it came back
    assert not [piece for piece in parts(KEY) if piece in line]
    if how == "fault":
        assert not [piece for piece in parts(ELSEWHERE) if piece in line]


def test_key_in_the_traceback_of_a_broken_model_is_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A user's model may raise anything, with the key in its message."""
    import subprocess
    import sys

    (tmp_path / "broken_model.py").write_text(
        "from sally.models.stub import Scripted\n"
        "def script(messages, settings):\n"
        f"    raise RuntimeError('no entry with ' + {KEY[:8]!r} + {KEY[8:]!r})\n"
        "MODEL = lambda name: Scripted(script)\n"
    )
    command = [sys.executable, "-m", "sally", "--use", "broken_model.py", "run", "quickstart_model"]
    for name in ("local", "pool:2"):
        done = subprocess.run(
            [*command, "--model", "broken_model", "--without", "lm", "--out", f"out-{name[:4]}",
             "--on", name, "--limit", "1"],
            cwd=tmp_path, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 1 and "no entry with [key]" in done.stdout + done.stderr
        assert KEY not in done.stdout + done.stderr
    actual_contents = [o for o in contents(tmp_path) if not o[0].endswith((".py", ".pyc"))]
    assert betrayals(actual_contents, KEY) == []


# --- every provider that is sent a key ------------------------------------------------------------

STUDY = """
name = "tiny"
about = "a tiny study"
[[cells]]
name = "ipd"
instances = [{id = "ipd", game = "ipd", params = {rounds = 3}}]
repeats = 4
lineups = [
    {agent = {player = "language", params = {}}, partner = {player = "tit_for_tat"}},
    {agent = {player = "policy_writer", params = {model = "model"}}, partner = {player = "random"}},
]
[cells.arms]
agent = ["their_move"]
"""
COMMANDS = (
    "run tiny.toml --model lab --out out",
    "run tiny.toml --model lab --out out --json",
    "plan tiny.toml --model lab --out out",
    "watch out --once",
    "score out",
    "score out --json",
    "profile out",
    "show out",
    "show out --json",
    "replay out --json",
    "report out --out page.html",
    "pack out --out out.sally.zip",
    "export out --out rows.csv --what decisions",
    "export out --out rows.parquet",
    "doctor",
)


def telling(handler: Handler) -> None:
    """A server that repeats the key in replies, names, reasons and errors."""
    number = handler.server.script.calls
    form = forms(KEY)[number % len(forms(KEY))]
    if number % 7 == 3:
        body = {"error": {"message": f"no: {form}", "param": KEY, "code": form}}
        handler.send(500, json.dumps(body).encode(), {"X-Request-Id": form})
        return
    message = {"role": "assistant", "content": f"Thinking of {form}, I say\nOption: J",
               "reasoning_content": f"so {form}", "refusal": None}  # fmt: skip
    usage = {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}
    body = {"id": form, "object": "chat.completion", "created": 1, "model": f"m-{form}",
            "system_fingerprint": form, "usage": usage,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}  # fmt: skip
    handler.send(200, json.dumps(body).encode())


@pytest.mark.parametrize("transport", ["server", "inspect"])
def test_key_that_a_server_repeats_is_in_no_output(
    transport: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    pytest.importorskip("openai", reason="the local server speaks the language of openai-api")
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG, "sally")
    Path("tiny.toml").write_text(STUDY)
    pairs: list[tuple[str, bytes]] = []
    with serving(always=telling) as server:
        Path("sally.toml").write_text(
            f'[models.lab]\nname = "openai-api/lab/canary"\nbase_url = "{server.address}"\n'
            f'api_key_env = "LAB_KEY"\ntransport = "{transport}"\n[limits]\nfirst_wait = 0.01\n'
        )
        for command in COMMANDS:
            done = CliRunner().invoke(cli, command.split())
            error = "".join(traceback.format_exception(*done.exc_info)) if done.exc_info else ""
            pairs.append((command, f"{done.stdout}{done.stderr}{error}".encode()))
    use_config(None)
    assert server.keys == {f"Bearer {KEY}"}  # it was sent
    logged = [(record.name, record.getMessage().encode()) for record in caplog.records]
    actual_contents = [*contents(tmp_path), *pairs, *logged]
    assert any(b"[key]" in data for _, data in actual_contents)  # it came back
    made = {"page.html", "out.sally.zip", "rows.csv", "rows.parquet"}
    assert made <= {p.name for p in tmp_path.iterdir()}, pairs
    assert betrayals(actual_contents, KEY) == []
    assert betrayals(actual_contents, ELSEWHERE) == []


@pytest.mark.parametrize("where", ["sally.toml", "OPENAI_BASE_URL"])
@pytest.mark.parametrize("address", [f"http://me:{KEY}@127.0.0.1:9/v1",
                                     f"http://127.0.0.1:9/v1?api_key={KEY}"])  # fmt: skip
def test_key_in_an_address_is_refused_and_not_repeated(
    where: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(STUDY)
    if where == "sally.toml":
        model = "lab"
        Path(where).write_text(f'[models.lab]\nname = "openai-api/lab/x"\nbase_url = "{address}"\n')
    else:
        pytest.importorskip("openai")
        model = "openai/x"
        monkeypatch.setenv(where, address)
        monkeypatch.setenv("OPENAI_API_KEY", "a-dummy-key")
    done = CliRunner().invoke(cli, ["run", "tiny.toml", "--model", model, "--out", "out"])
    Path("sally.toml").unlink(missing_ok=True)
    use_config(None)
    text = f"{done.stdout}{done.stderr}{done.exception}"
    assert done.exit_code != 0 and "holds a" in text
    assert betrayals([("said", text.encode())], KEY) == []
    assert not Path("out").exists()


def test_key_of_a_llama_server_is_in_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    from sally.models import llama_server

    def telling_props(handler: Handler) -> None:
        handler.send(401, json.dumps({"error": {"message": f"no: {KEY}"}}).encode())

    monkeypatch.setenv(llama_server.KEY_VARIABLE, KEY)
    with serving(always=telling_props) as server:
        monkeypatch.setattr(Handler, "do_GET", lambda self: telling_props(self), raising=False)
        with pytest.raises(Exception, match=r"llama|server|HTTP|401") as failed:
            registry.model(f"llama_server:{server.address.removesuffix('/v1')}?weights=smollm2")
    text = "".join(traceback.format_exception(failed.value))
    assert betrayals([("raised", text.encode())], KEY) == []


# --- the web --------------------------------------------------------------------------------------


def test_passwords_and_ids_of_the_web_stay_where_they_belong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The password of the experimenter, a mistyped one and the parameters of people's links are
    stored nowhere; the platform's ids are in the database and in the list of payments alone."""
    pytest.importorskip("starlette")
    from tests.web import participants
    from tests.web.participants import RIGHT, TEXT, Participant, study_server

    monkeypatch.setattr(participants, "SECRET", PASSWORD)
    caplog.set_level(logging.DEBUG)
    platform_id, session = "pid-Xw5Dn8Tk1Vq3Rz6Bc0", "ses-Kf7Jm2Hs9Gp4La6Ey8"
    pages: list[tuple[str, bytes]] = []
    with study_server(tmp_path, TEXT) as server:
        person = Participant(server)
        person.get(PROLIFIC_PID=platform_id, SESSION_ID=session, password=WRONG)
        person.post("/consent", token=person.field("token"), given=person.field("given"),
                    agree="yes")  # fmt: skip
        person.read_on().check(*RIGHT).play().play().survey(human="4", device="A phone")
        pages.append(("a participant's page", person.page.content))
        guest = Participant(server).browser
        for secret in (WRONG, PASSWORD):
            page = guest.post("/experimenter/login", data={"secret": secret})
            pages.append((f"login with {secret[:7]}", page.content))
        for path in ("", "/study", "/study/people.json", "/study/payments.csv"):
            page = guest.get(f"/experimenter{path}")
            pages.append((path, page.content + str(page.headers).encode()))
        token = pages[-3][1].partition(b'name="form_token" value="')[2].partition(b'"')[0].decode()
        guest.post("/experimenter/study/export", data={"form_token": token})
        pages.append(("the lobby", Participant(server).browser.get("/").content))
    logged = [(record.name, record.getMessage().encode()) for record in caplog.records
              if not record.name.startswith("httpx")]  # fmt: skip
    actual_contents = [*contents(tmp_path), *pages, *logged]
    for secret in (PASSWORD, WRONG, session):
        assert betrayals(actual_contents, secret) == [], secret
    holders = {Path(name).name for name in betrayals(actual_contents, platform_id)}
    assert "payments.csv" in holders and any("database" in name for name in holders), holders
    allowed = ("database.sqlite", "payments.csv")
    assert all(name.startswith(allowed) for name in holders), holders
