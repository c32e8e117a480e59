"""Forged evaluations: bundles whose hashes are right and whose logs are not. `sally report --board`
refuses what it can see, and shows what is missing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from sally import store
from sally.analysis.evaluation import evaluate
from sally.api.board import (
    checked_entry,
    earlier_checks,
    plan_episodes,
    played_episodes,
    proved_episodes,
    refuse_unplanned,
    same_pack,
)
from sally.api.studies import RunRequest, prepared_study
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import (
    Censored,
    Episode,
    Forfeited,
    Fork,
    Injection,
    Moved,
    PlayerSpec,
    Reported,
    Skipped,
    episode_id,
)
from sally.core.match.playback import replay_episode
from sally.core.prompt.model import Message, ModelKind, Settings
from sally.core.registry import packs, registry
from sally.core.registry.study import Study
from sally.core.rules.game import Seat
from sally.frames.frame import as_frame
from sally.models.stub import Scripted
from sally.output.files.bundle import pack
from sally.output.page.evaluation import said_calls
from sally.runner.check import check
from sally.runner.config import use_config
from sally.runner.local import manifest, orders, play
from sally.store.bundles import open_store
from sally.studies.sally_1 import bot_suite, in_one_store, suite

GAMES = ("ibs", "pick_the_right_stuff")  # the second has moves of nature
REPLACE = msgspec.structs.replace
Forgery = Callable[[Episode], Episode]


def answer(messages: Sequence[Message], settings: Settings) -> str:
    """Answer with one of the options on the page, drawn by the seed of the call."""
    form = messages[-1].text.rsplit("\n", 1)[-1]
    label, names = re.search(r"(\w+): <(?:choice>.* is )?([^<>]*?)[.>]*$", form).groups()
    return f"{label}: {re.split(', | or ', names)[settings.seed % 2]}"


@pytest.fixture(scope="module")
def honest() -> tuple[Study, list[Episode]]:
    """The study and the episodes of a model in two games of the suite."""
    registry.add("models", "forged", ModelKind("forged", "a stub", lambda name: Scripted(answer)))
    request = RunRequest(model="forged")
    study = in_one_store(prepared_study(suite("S", GAMES), request, use_config(None))[0])
    return study, [play(setup, cell) for _, cell, setup in orders(study)]


def packed(study: Study, episodes: list[Episode], folder: Path, name: str = "entry") -> Path:
    """Return a bundle of these episodes, with valid hashes and checksums."""
    place = folder / f"store of {name}"
    store.claim(place, manifest(study), study)
    lineups = [spec for e in episodes for spec in e.setup.lineup.values()]
    for pack_name in {spec.params["pack"] for spec in lineups if spec.params.get("pack")}:
        store.keep_pack(place, packs.find(pack_name))
    with store.Writer(place) as writer:
        for episode in episodes:
            writer.add(episode)
    bundle = folder / f"{name}.sally.zip"
    pack(place, bundle, anyway=True)
    return bundle


def test_honest_bundle_is_replayed_and_every_answer_checked(honest):
    _, episodes = honest
    result = check(episodes)
    assert (result.replayed, result.mismatches, result.unchecked) == (len(episodes), [], [])


BOARD = Path(__file__).parents[2] / "docs" / "board"


@pytest.mark.parametrize("name", ["best_bot", "qwen-0.5b", "smollm2"])
def test_shipped_entry_stands(name):
    """`make docs` checks all of them."""
    with open_store(BOARD / f"{name}.sally.zip") as (place, packed):
        episodes, readers = proved_episodes(place, packed.sha256)
        (study,) = store.studies(place).values()
        plan = plan_episodes(episodes, study, "S")
        is_earlier = packed.sha256 in earlier_checks()
        words_of = packs.pack_name if is_earlier else same_pack
        refuse_unplanned(episodes, plan, "Sally-1, size S", words_of)
        if is_earlier:  # their words packs are of their time
            with pytest.raises(BadInput, match="is not part of"):
                refuse_unplanned(episodes, plan, "Sally-1, size S")
    assert len(plan) >= len(episodes) > 0
    assert readers == "-" or readers.startswith("rule")


def test_earlier_check_holds_for_the_very_bytes_only(tmp_path):
    """A repacked bundle, with the same episodes, is not the one that was checked."""
    shipped = BOARD / "smollm2.sally.zip"
    with open_store(shipped) as (place, packed):
        assert packed.sha256 in earlier_checks()
        with pytest.raises(BadInput, match="cannot be checked"):
            proved_episodes(place, "0" * 64)


# --- answers --------------------------------------------------------------------------------------


def of_model(episode: Episode) -> str:
    return "agent" if episode.setup.instance.game == "ibs" else "manager"


def changed(episode: Episode, change: Callable, kind: type = Moved, seat: str = "") -> Episode:
    """Return the episode with the first event of a kind and seat changed."""
    events = list(episode.events)
    seat = seat or of_model(episode)
    where = next(n for n, e in enumerate(events) if type(e) is kind and e.seat == seat)
    events[where] = change(events[where])
    return REPLACE(episode, events=events)


def _last_call(event, **fields):
    *calls_before, last = event.calls
    return REPLACE(event, calls=(*calls_before, REPLACE(last, **fields)))


def without_calls(episode: Episode) -> Episode:
    events = [REPLACE(e, calls=()) if e.calls else e for e in episode.events]
    return REPLACE(episode, events=events)


def other_move(event: Moved) -> Moved:
    return REPLACE(event, action=1 - event.action)


def _reworded(event: Moved) -> Moved:
    """Return the other move, with the reply that would give it in another decision."""
    first, second = "JF" if event.reply[-1] in "JF" else sorted({event.reply[-1], "F"})
    reply = event.reply[:-1] + (second if event.reply[-1] == first else first)
    return REPLACE(_last_call(other_move(event)), reply=reply)


def stopped(episode: Episode, cause: str) -> Episode:
    """Return the episode without its second half, as if something had stopped it."""
    first_half = [event for event in episode.events if event.turn < 5]
    return REPLACE(episode, events=[*first_half, Censored(5, cause)])


ANSWERS: dict[str, Forgery] = {
    "no calls at all": without_calls,
    "one move without its call": lambda e: changed(e, lambda m: REPLACE(m, calls=())),
    "one prediction without its call": lambda e: changed(
        e, lambda r: REPLACE(r, calls=()), Reported
    ),
    "a move against its reply": lambda e: changed(e, other_move),
    "a prediction against its reply": lambda e: changed(
        e, lambda r: REPLACE(r, value=1 - (r.value or 0)), Reported
    ),
    "a call with an empty reply": lambda e: changed(e, lambda m: _last_call(m, reply="")),
    "an event that quotes another reply than its call": lambda e: changed(e, _reworded),
    "a prompt that was not shown": lambda e: changed(e, lambda m: _last_call(m, prompt="0" * 32)),
    "settings of a call changed": lambda e: changed(
        e, lambda m: _last_call(m, settings={**m.calls[-1].settings, "temperature": 1.0})
    ),
    "a call too many": lambda e: changed(e, lambda m: REPLACE(m, calls=(*m.calls, *m.calls))),
    "fewer tries": lambda e: changed(e, lambda m: REPLACE(m, tries=m.tries + 1)),
    "a wrong prediction not asked": lambda e: changed(
        e, lambda r: Skipped(r.turn, r.seat, r.probe, "not asked", r.about), Reported
    ),
    "a bad move forfeited": lambda e: changed(
        e, lambda m: Forfeited(m.turn, m.seat, "unreadable", m.reply, m.tries, m.calls)
    ),
    "a kind partner": lambda e: changed(e, other_move, seat="partner"),
    "true as a move": lambda e: changed(e, lambda m: REPLACE(m, action=bool(m.action))),
    "stopped by rules that go on": lambda e: stopped(e, "forfeits"),
}


@pytest.mark.parametrize("forgery", ANSWERS.values(), ids=ANSWERS.keys())
def test_forged_answer_does_not_replay(honest, forgery):
    asked = [e for e in honest[1] if e.cell.startswith("ibs: asked")][:2]
    result = check([forgery(asked[0]), asked[1]])
    assert [id for id, _ in result.mismatches] == [asked[0].id], result


def test_removed_usage_is_counted(honest):
    """A server need not count tokens, so a reply without a count may be honest; the page says how
    many there are."""
    asked = [e for e in honest[1] if e.cell.startswith("ibs: asked")]
    forged = changed(asked[0], lambda m: _last_call(m, usage={}))
    evaluation = evaluate(as_frame([forged, *asked[1:]]), player="forged", suite="Sally-1")
    assert evaluation.bill.uncounted == 1
    assert "tokens (those of 1 calls not known)" in said_calls(evaluation.bill)


def test_lucky_draw_of_nature_does_not_replay(honest):
    """The deal of another episode: the log is consistent, but its seed draws another one."""
    problem = next(e for e in honest[1] if e.cell.startswith("pick_the_right_stuff: not asked"))
    alternative = REPLACE(problem.setup, seed=problem.setup.seed + 1)
    lucky = play(alternative, problem.cell)
    forged = REPLACE(lucky, id=problem.id, setup=problem.setup)
    (mismatch,) = check([forged]).mismatches
    assert re.search(r"seed \d+ draws|prompt", mismatch[1]), mismatch


def _with_last_move_changed(episode: Episode, seat: str = "agent") -> Episode:
    """Return the episode with another last move of the model, against its reply, or of the bot, and
    the payoffs that follow from it."""
    last = max(n for n, e in enumerate(episode.events) if type(e) is Moved and e.seat == seat)
    events = list(episode.events)
    events[last] = other_move(events[last])
    game = registry.game("ibs")
    played = replay_episode(game, REPLACE(episode, events=events))
    payoffs = {str(seat): float(p) for seat, p in played.game.payoffs(played.present).items()}
    events[-1] = REPLACE(events[-1], payoffs=payoffs)
    return REPLACE(episode, events=events)


@pytest.fixture(scope="module")
def asked(honest) -> list[Episode]:
    """Some episodes of `honest`, the first of which is forged by tests."""
    return [e for e in honest[1] if e.cell.startswith("ibs: asked")]


def test_episode_that_says_it_was_imported_is_refused(honest, asked, tmp_path):
    """The bots of an imported episode were other programs, so their moves are not compared."""
    forged = REPLACE(_with_last_move_changed(asked[0], "partner"), used={"source": "a record"})
    result = check([forged])
    ((_, reason),) = result.unchecked
    assert "bots and chance were not checked" in reason
    bundle = packed(honest[0], [forged, *asked[1:]], tmp_path)
    with pytest.raises(BadInput, match=f"{forged.id} was imported"):
        checked_entry(bundle, tmp_path / "page", None)


@pytest.mark.parametrize("cause", ["fault", "helper", "the player was losing"])
def test_stopped_episode_counts_as_a_missing_one(asked, cause):
    """A replay cannot know why an episode stopped, so nobody gains by leaving rounds out."""
    forged = stopped(asked[0], cause)
    assert check([forged]).mismatches == []
    assert played_episodes([forged, *asked[1:]]) == asked[1:]


@pytest.mark.parametrize(
    ("seat", "part"),
    [("agent", "player"), ("agent", "strategy"), ("agent", "words"), ("partner", "player")],
)
def test_changed_version_is_refused_by_board_and_counted_by_replay(honest, tmp_path, seat, part):
    """(b) of the issue: another number in `versions`, the id recomputed, and a move against its
    reply."""
    study, episodes = honest
    own_episodes = [e for e in episodes if e.cell.startswith("ibs")]

    forged = [
        _with_version(_with_last_move_changed(own_episodes[0]), seat, part, 99),
        *own_episodes[1:],
    ]
    bundle = packed(study, forged, tmp_path)
    with pytest.raises(BadInput, match=r"cannot be checked"):
        checked_entry(bundle, tmp_path / "page", None)
    done = CliRunner().invoke(cli, ["replay", str(bundle)], color=True)
    assert done.exit_code == 0
    assert "1 not checked.\x1b[0m" in done.output and "\x1b[31m24 of 24" in done.output, done.output


def first_move(episode: Episode) -> Moved:
    return next(e for e in episode.events if type(e) is Moved and e.seat == of_model(episode))


def _with_version(episode: Episode, seat: str, part: str, version: int) -> Episode:
    player = episode.setup.lineup[seat]
    versioned = REPLACE(player, versions={**player.versions, part: version})
    setup = REPLACE(episode.setup, lineup={**episode.setup.lineup, seat: versioned})
    return REPLACE(episode, id=episode_id(setup), setup=setup)


@pytest.mark.parametrize("version", [3, 7, 99])
def test_reply_in_the_format_is_checked_whatever_rule_read_it(honest, version):
    _, episodes = honest
    episode = _with_version(episodes[0], of_model(episodes[0]), "reader", version)
    result = check([episode])
    assert (result.replayed, result.mismatches, result.unchecked) == (1, [], [])
    result = check([_with_last_move_changed(episode)])
    ((_, reason),) = result.mismatches
    assert re.search(r"the reply of agent in turn 9 says [01], while the log has [01]", reason)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("I pick J.", "one answer cannot be read by it"),
        ("J? No, \\boxed{F}.", "one answer cannot be read by it"),
        ("<think>J</think>\nF", "says 1, while the log has 0"),
    ],
)
def test_other_reply_of_an_older_rule_is_counted_or_refused(honest, reply, problem):
    _, episodes = honest
    episode = next(e for e in episodes if first_move(e).reply == "Option: J")
    told_episode = changed(
        episode, lambda event: _last_call(REPLACE(event, reply=reply), reply=reply)
    )
    result = check([_with_version(told_episode, "agent", "reader", 7)])
    ((_, reason),) = result.unchecked + result.mismatches
    assert problem in reason
    assert len(result.mismatches) == ("says" in problem)


def test_reply_that_its_calls_do_not_contain_is_refused(honest):
    _, episodes = honest
    episode = next(e for e in episodes if first_move(e).reply == "Option: J")
    told_episode = changed(episode, lambda event: _last_call(event, reply="I pick J."))
    result = check([_with_version(told_episode, "agent", "reader", 7)])
    ((_, reason),) = result.mismatches
    assert "is not in its calls" in reason


# --- setups ---------------------------------------------------------------------------------------


def _player(episode: Episode, spec: PlayerSpec, seat: str = "") -> dict[str, PlayerSpec]:
    return {**episode.setup.lineup, seat or of_model(episode): spec}


def _with_params(episode: Episode, **params: object) -> dict[str, PlayerSpec]:
    player = episode.setup.lineup[of_model(episode)]
    return _player(episode, REPLACE(player, params={**player.params, **params}))


TRUTH = (Injection(Seat("agent"), "their_move", "truth"),)
SETUPS: dict[str, Callable[[Episode], dict]] = {
    "an easier partner": lambda e: {"lineup": _player(e, PlayerSpec("single_action"), "partner")},
    "the truth is told": lambda e: {"injections": TRUTH},
    "more retries": lambda e: {"retries": 9},
    "another seed": lambda e: {"seed": e.setup.seed + 1},
    "another repeat": lambda e: {"repeat": 1},
    "fewer rounds": lambda e: {"instance": REPLACE(e.setup.instance, params={"rounds": 1})},
    "no questions": lambda e: {"arms": {}},
    "other settings in one episode": lambda e: {
        "lineup": _with_params(e, settings={"temperature": 1.0})
    },
    "another model in one episode": lambda e: {"lineup": _with_params(e, model="better")},
    "a layout of its own": lambda e: {"lineup": _with_params(e, harness={"memory": "none"})},
    "a fork": lambda e: {"fork": Fork("0" * 24, 5, e.setup.seed, dict(e.setup.arms))},
}


@pytest.mark.parametrize("change", SETUPS.values(), ids=SETUPS.keys())
def test_episode_that_the_suite_does_not_ask_is_refused(honest, tmp_path, change):
    """Ids are recomputed, and where the episode can be played, it is: its log is consistent."""
    study, episodes = honest
    own_episodes = [e for e in episodes if e.cell.startswith("ibs: asked")]
    setup = REPLACE(own_episodes[0].setup, **change(own_episodes[0]))
    try:
        forged = play(setup, own_episodes[0].cell)
    except (BadInput, LookupError):
        forged = REPLACE(own_episodes[0], id=episode_id(setup), setup=setup)
    bundle = packed(study, [forged, *own_episodes[1:]], tmp_path)
    with pytest.raises(BadInput):
        checked_entry(bundle, tmp_path / "page", None)


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\u202eb-4.5", "a\x1b[31m", "x" * 201, 5, ["x"]])
def test_model_whose_name_cannot_be_shown_is_refused(honest, tmp_path, name):
    """Such a name could pretend to be another, or cover the page."""
    study, episodes = honest
    first = next(e for e in episodes if e.cell.startswith("ibs: asked"))
    setup = REPLACE(first.setup, lineup=_with_params(first, model=name))
    renamed = REPLACE(first, id=episode_id(setup), setup=setup)
    with pytest.raises(BadInput, match="printable"):
        checked_entry(packed(study, [renamed], tmp_path), tmp_path / "page", None)


def test_bot_under_the_name_of_a_model_is_refused(honest, tmp_path):
    """(a) of the issue: the moves of `best_bot`, logged as those of a language player."""
    study, episodes = honest
    best = [play(s, c) for _, c, s in orders(bot_suite("best_bot")) if c.startswith("ibs")]
    by_problem = {(e.setup.instance.id, e.cell): e for e in best}
    forged = [
        REPLACE(by_problem[key], id=e.id, setup=e.setup)
        for e in episodes
        if (key := (e.setup.instance.id, e.cell)) in by_problem
    ]
    with pytest.raises(BadInput, match=r"does not replay.*0 calls"):
        checked_entry(packed(study, forged, tmp_path), tmp_path / "page", None)


def test_bot_that_is_not_the_one_named_is_refused(tmp_path):
    """The study says random, the episodes are those of the best bot."""
    random = in_one_store(bot_suite("random"))
    better = [play(s, c) for _, c, s in orders(bot_suite("best_bot")) if c.startswith("ibs: asked")]
    with pytest.raises(BadInput, match="not part of Sally-1"):
        checked_entry(packed(random, better, tmp_path), tmp_path / "page", None)


def test_two_models_in_one_bundle_are_refused(honest, tmp_path):
    study, episodes = honest
    own_episodes = [e for e in episodes if e.cell.startswith("ibs: asked")]
    registry.add("models", "other", ModelKind("other", "a stub", lambda name: Scripted(answer)))
    lineup = _with_params(own_episodes[0], model="other")
    second = play(REPLACE(own_episodes[0].setup, lineup=lineup), own_episodes[0].cell)
    with pytest.raises(BadInput, match="2 language players"):
        checked_entry(packed(study, [second, *own_episodes[1:]], tmp_path), tmp_path / "page", None)


def test_repeated_line_is_refused(honest, tmp_path):
    study, episodes = honest
    bundle = packed(study, episodes[:3], tmp_path)
    with pytest.raises(BadInput, match="1 of its lines repeat an episode"):
        checked_entry(_with_lines(bundle, lambda lines: [*lines, lines[0]]), tmp_path / "p", None)


def _with_lines(bundle: Path, change: Callable[[list[bytes]], list[bytes]]) -> Path:
    """Return a copy of a bundle with other lines of episodes and matching hashes."""
    import zipfile
    from hashlib import sha256

    from sally.output.files.bundle import EPISODES, MANIFEST, _seal, seal_of

    with zipfile.ZipFile(bundle) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    lines = change(parts[EPISODES].splitlines(keepends=True))
    parts[EPISODES] = b"".join(lines)
    described = json.loads(parts[MANIFEST])
    described["episodes"] = len(lines)
    described["files"][EPISODES] = {
        "sha256": sha256(parts[EPISODES]).hexdigest(), "bytes": len(parts[EPISODES])}  # fmt: skip
    parts[MANIFEST] = json.dumps(described).encode()
    forged = bundle.with_name("forged.sally.zip")
    with forged.open("w+b") as file:
        with zipfile.ZipFile(file, "w") as zipped:
            for name, data in parts.items():
                zipped.writestr(name, data)
            zipped.comment = seal_of("0" * 64)
        _seal(file)
    return forged


def test_study_of_another_kind_is_refused(tmp_path):
    study = msgspec.structs.replace(bot_suite("random"), name="mine", about="my own problems")
    own_episodes = [play(s, c) for _, c, s in orders(study) if c.startswith("toma_po: asked")]
    with pytest.raises(BadInput, match="holds no evaluation"):
        checked_entry(packed(study, own_episodes, tmp_path), tmp_path / "page", None)


# --- missing episodes -----------------------------------------------------------------------------


CHOSEN = "chosen [1] \"best\" 'of' trés"


@pytest.fixture(scope="module")
def site(honest, tmp_path_factory) -> tuple[Path, dict]:
    """The board of a bot, of the same bot without the episodes that it lost, of one whose lost
    episodes are marked as faults, and of one under an odd name; with the figures as JSON."""
    folder = tmp_path_factory.mktemp("board")
    study = bot_suite("random")
    cells = tuple(c for c in study.cells if c.name.startswith("toma_po"))
    study = in_one_store(REPLACE(study, cells=cells))
    full_episodes = [play(s, c) for _, c, s in orders(study)]
    won = [e for e in full_episodes if e.payoffs["player"] == 1]
    faults = [
        e if e in won else REPLACE(e, events=[Censored(0, "fault", "network: lost")])
        for e in full_episodes
    ]
    packed(study, full_episodes, folder, "index")
    packed(study, won, folder, CHOSEN)
    packed(study, faults, folder, "faults")
    (folder / "more").mkdir()
    packed(study, full_episodes, folder / "more", "Faults-episodes")
    places = [str(folder), str(folder / "more")]
    args = ["report", "--board", *places, "--out", str(folder / "site"), "--transcripts", "0"]
    done = CliRunner().invoke(cli, [*args, "--json"])
    assert done.exit_code == 0, done.output
    return folder / "site", json.loads(done.stdout)


def test_missing_episodes_are_shown_and_count_as_failures(site):
    """(c) of the issue: leaving out what was lost gave "doing 1.00" without a mark."""
    _, board_entries = site
    by_bundle = {entry["bundle"].partition(".")[0]: entry for entry in board_entries["entries"][:3]}
    chosen, faults, whole = (by_bundle[name] for name in (CHOSEN, "faults", "index"))
    for entry in (chosen, faults):
        assert entry["played"] < entry["planned"] and not entry["whole"]
        (game,) = (result for result in entry["games"] if result["game"] == "toma_po")
        assert game["doing"]["value"] == 1.0
        planned = entry["doing_intention_to_treat"]["toma_po"]["value"]
        assert planned == pytest.approx(whole["doing_intention_to_treat"]["toma_po"]["value"])
        assert planned < 0.5


def test_only_whole_entries_are_rated(site):
    folder, board_entries = site
    # one game is not the suite
    assert not any(entry["whole"] for entry in board_entries["entries"])
    page = (folder / "index.html").read_text("utf-8")
    assert page.count("Not rated, because episodes are missing") == 1
    assert "<th>played</th><th>entry</th>".replace("<th>", '<th scope="col">') in page


def test_every_bundle_has_a_page_of_its_own(site):
    """(d) of the issue: a blank, bracket, quote or accent in the name of a bundle; also names
    of other pages: of the board itself, and of another entry's transcripts in other capitals."""
    folder, board_entries = site
    page = (folder / "index.html").read_text("utf-8")
    assert len(board_entries["entries"]) == 4
    links = set(re.findall(r'href="([^"#]+\.html)"', page))
    assert len({link.lower() for link in links}) == 4 and "index.html" not in links
    assert all((folder / link).exists() for link in links)
    assert "Faults-episodes-2.html" in links


# --- signatures -----------------------------------------------------------------------------------

needs_openssh = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="needs ssh-keygen")


@pytest.fixture
def signed(honest, tmp_path) -> Path:
    """A bundle with a signature beside it."""
    study, episodes = honest
    bundle = packed(study, [e for e in episodes if e.cell.startswith("pick")], tmp_path, "signed")
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    sign = ["ssh-keygen", "-q", "-Y", "sign", "-n", "sally", "-f", str(key), str(bundle)]
    subprocess.run(sign, check=True, capture_output=True)
    return bundle


@needs_openssh
def test_signature_is_read_and_shown(signed, tmp_path):
    entry = checked_entry(signed, tmp_path / "page", None)
    key = subprocess.run(
        ["ssh-keygen", "-l", "-f", str(tmp_path / "key.pub")], capture_output=True, text=True
    )
    assert entry.signed == f"ED25519 key {key.stdout.split()[1]}"


@needs_openssh
@pytest.mark.parametrize("damage", ["other bundle", "not a signature", "other purpose"])
def test_signature_that_does_not_fit_is_refused(signed, honest, tmp_path, damage):
    signature = signed.with_name(signed.name + ".sig")
    if damage == "not a signature":
        signature.write_text("signed by me")
    elif damage == "other bundle":
        study, episodes = honest
        packed(study, episodes[:2], tmp_path, "more").replace(signed)
    else:
        signature.unlink()
        sign = ["ssh-keygen", "-q", "-Y", "sign", "-n", "file", "-f", str(tmp_path / "key")]
        subprocess.run([*sign, str(signed)], check=True, capture_output=True)
    with pytest.raises(BadInput, match=r"is not one of signed\.sally\.zip"):
        checked_entry(signed, tmp_path / "page", None)
