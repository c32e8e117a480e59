"""Whatever a provider does, the run goes on, the log says what happened, and no key is in it."""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from sally import store
from sally.adapters.inspect.run import play_orders
from sally.core.log.events import Call, Censored, Episode, Forfeited, Moved, Reported
from sally.core.registry.study import Study
from sally.runner.budget import Meter
from sally.runner.check import check
from sally.runner.config import Config, ModelEntry, transport_of, use_config
from sally.runner.local import play_here
from tests.adapters.inspect import server as faulty
from tests.adapters.inspect.server import Fault, Server, serving
from tests.adapters.inspect.tables import stored, tiny, wanted

pytest.importorskip("openai", reason="the faulty server speaks the language of openai-api")

KEY = "sk-very-secret-4711"
numbers = itertools.count()
both = pytest.mark.parametrize("transport", ["inspect", "server"])
LONG = "word " * 10_000
ODD_LOGPROBS = {"content": [{"token": 5, "logprob": "high", "top_logprobs": {"J": -1}}]}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("FAULTY_KEY", KEY)
    yield
    use_config(None)


def config_for(
    server: Server, folder: Path, retries: int, patience: int, transport: str
) -> tuple[str, Config]:
    """A config file for the server, with waits that a test can afford."""
    name = f"openai-api/lab/m{next(numbers)}"  # a name of its own: Inspect remembers clients
    path = folder / "sally.toml"
    path.write_text(
        f"""
        [models.faulty]
        name = "{name}"
        base_url = "{server.address}"
        api_key_env = "FAULTY_KEY"
        transport = "{transport}"
        [limits]
        call_seconds = {patience}
        call_retries = {retries}
        first_wait = 0.01
        """
    )
    return name, use_config(path)


def run(
    server: Server,
    folder: Path,
    transport: str,
    retries: int = 3,
    repeats: int = 1,
    patience: int = 60,
) -> list[Episode]:
    """Play the tiny study against the server."""
    name, config = config_for(server, folder, retries, patience, transport)
    study, out = tiny(rounds=2, repeats=repeats, retries=1), folder / "out"
    play(study, name, out, config)
    no_key_anywhere(folder)
    return stored(out)


def play(study: Study, name: str, out: Path, config: Config) -> None:
    """Play a study through Inspect or by our own client, as the config says."""
    orders = wanted(study, name, out)
    if transport_of(name, config) == "inspect":
        play_orders("tiny", orders, out, Meter(config=config), display="none")
        return
    with store.Writer(out) as writer:
        play_here(orders, lambda episode, _: writer.add(episode), Meter(config=config))


def no_key_anywhere(folder: Path, key: str = KEY) -> None:
    """Search every file, and every file within a file."""
    for path in folder.rglob("*"):
        if path.is_file():
            assert key.encode() not in path.read_bytes(), path
        if path.suffix == ".eval":
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    assert key.encode() not in archive.read(member), (path, member)


def calls(episodes: Sequence[Episode]) -> list[Call]:
    return [call for e in episodes for event in e.events for call in getattr(event, "calls", ())]


PASSING: dict[str, tuple[Fault, str]] = {
    "429": (faulty.status(429), "rate_limit"),
    "429 with Retry-After": (faulty.status(429, retry_after="0.2"), "rate_limit"),
    "500": (faulty.status(500), "server"),
    "503": (faulty.status(503), "server"),
    "timeout": (faulty.hanging(), "timeout"),
    "dropped": (faulty.dropped, "connection"),
    "truncated JSON": (faulty.truncated, "bad_reply"),
    "no choices": (faulty.no_choices, "bad_reply"),
    "wrong log-probabilities": (faulty.replying("Option: J", logprobs=ODD_LOGPROBS), "bad_reply"),
}


@both
@pytest.mark.parametrize("name", PASSING)
def test_transient_fault_is_logged_by_kind_and_episode_completes(
    name: str, transport: str, tmp_path: Path
) -> None:
    fault, kind = PASSING[name]
    if name == "wrong log-probabilities" and transport == "server":
        pytest.skip("log-probabilities that were not asked for are not read")
    with serving([fault, fault]) as server:
        # a machine that is busy takes seconds for a call, too
        episodes = run(server, tmp_path, transport, patience=4 if kind == "timeout" else 60)
    assert all(e.payoffs is not None for e in episodes)
    failed = [call for call in calls(episodes) if call.failure]
    assert [call.failure for call in failed] == [kind, kind]
    assert all(not call.reply and call.detail for call in failed)
    assert server.calls == 4 + 2  # nobody retries behind our back
    replay_check = check(episodes)  # a log with faults replays, prompts and all
    assert (replay_check.replayed, replay_check.mismatches) == (1, [])


@both
def test_retry_after_header_is_respected(transport: str, tmp_path: Path) -> None:
    with serving([faulty.status(429, retry_after="0.5")]) as server:
        run(server, tmp_path, transport)
    first, _, third, *_ = server.times  # probe and move are out at the same time
    assert third - first >= 0.5


@both
@pytest.mark.parametrize(
    ("fault", "kind", "tries"),
    [
        (faulty.status(500), "server", 3),
        (faulty.dropped, "connection", 3),
        (faulty.status(401), "auth", 1),
        (faulty.status(403), "auth", 1),
        (faulty.status(400), "bad_request", 1),
        (faulty.status(404), "bad_request", 1),
    ],
)
def test_persistent_fault_censors_episode_without_scores(
    fault: Fault, kind: str, tries: int, transport: str, tmp_path: Path
) -> None:
    with serving(always=fault) as server:
        episodes = run(server, tmp_path, transport, retries=2)
    (episode,) = episodes
    assert isinstance(episode.end, Censored)
    assert episode.end.cause == "fault"
    assert episode.end.detail.startswith(kind)
    assert [call.failure for call in episode.end.calls] == [kind] * tries
    assert not [e for e in episode.events if isinstance(e, Reported)]
    assert not [e for e in episode.events if isinstance(e, Moved) and e.seat == "agent"]


@both
def test_finished_run_replaces_episode_censored_by_fault(transport: str, tmp_path: Path) -> None:
    with serving(always=faulty.status(401)) as server:
        (cut,) = run(server, tmp_path, transport)
        server.always = None
        name = cut.setup.lineup["agent"].params["model"]
        entry = ModelEntry(name, server.address, "FAULTY_KEY", transport=transport)
        out = tmp_path / "out"
        play(tiny(rounds=2, repeats=1, retries=1), name, out, Config({"m": entry}))
    (episode,) = store.load(out).episodes.values()
    assert (episode.id, episode.payoffs is None) == (cut.id, False)


# --- replies that are no answers ------------------------------------------------------------------

WORDS: dict[str, tuple[Fault, str, str]] = {
    "empty": (faulty.replying(""), "unreadable", "stop"),
    "null": (faulty.replying(None), "unreadable", "stop"),
    "long": (faulty.replying(LONG), "unreadable", "stop"),
    "refusal": (faulty.replying(None, refusal="Option: J is something I will not say."), "refused",
                "refusal"),
    "filtered": (faulty.replying("Option: J", "content_filter"), "refused", "refusal"),
    "cut by length": (faulty.replying("I think that Option: J", "length"), "length", "length"),
}  # fmt: skip


@both
@pytest.mark.parametrize("name", WORDS)
def test_unusable_reply_is_forfeit_with_its_reason(
    name: str, transport: str, tmp_path: Path
) -> None:
    fault, reason, finish = WORDS[name]
    with serving(always=fault) as server:
        (episode,) = run(server, tmp_path, transport)
    forfeits = [e for e in episode.events if isinstance(e, Forfeited)]
    assert {e.reason for e in forfeits} == {reason}
    assert {call.finish for e in forfeits for call in e.calls} == {finish}
    assert {e.value for e in episode.events if isinstance(e, Reported)} <= {None}
    assert not [e for e in episode.events if isinstance(e, Moved) and e.seat == "agent"]
    if name == "long":
        assert forfeits[0].reply.strip() == LONG.strip()


@both
def test_invalid_utf8_response_does_not_abort_episode(transport: str, tmp_path: Path) -> None:
    with serving([faulty.not_utf8]) as server:
        (episode,) = run(server, tmp_path, transport)
    assert episode.payoffs is not None
    assert any(c.failure == "bad_reply" or "\ufffd" in c.reply for c in calls([episode]))


@both
def test_many_episodes_complete_under_frequent_faults(transport: str, tmp_path: Path) -> None:
    left_out = ["timeout", *(["wrong log-probabilities"] if transport == "server" else [])]
    faults = {name: given for name, given in PASSING.items() if name not in left_out}
    storm = [fault for fault, _ in faults.values()]
    with serving(storm * 2) as server:
        episodes = run(server, tmp_path, transport, retries=12, repeats=6)
    assert len(episodes) == 6
    assert all(e.payoffs is not None for e in episodes)
    failures = [call.failure for call in calls(episodes) if call.failure]
    assert len(failures) == len(storm) * 2
    assert set(failures) == {kind for _, kind in faults.values()}
    assert server.keys == {f"Bearer {KEY}"}
