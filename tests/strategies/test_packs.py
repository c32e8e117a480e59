"""Words packs from a file to the page, the store and the replay."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally import store
from sally.core.errors import BadInput
from sally.core.log.events import Injection, episode_id
from sally.core.registry import packs, registry
from sally.core.registry.study import Cell, Study
from sally.core.rules.words import Pack, check_pack
from sally.players.language import every_strategy_text
from sally.runner.check import check
from sally.runner.run import run_study
from sally.runner.seating import resolve_setup
from tests.fixtures.any_text import any_text
from tests.strategies.talk import MINE, Listener, says, setup_with, talk

GERMAN = """
name = "german"
game = "ipd"

[texts]
now = "Dies ist Runde {round}."
question = "Was wählst du: {names}?"
"cot.think" = "Denke zuerst nach und beginne mit `Thoughts:`. {format}"
past.void = "Runde {round}: nicht gespielt."
retry = "Das war nichts. {why}"
"""


@pytest.fixture
def german(tmp_path: Path) -> str:
    path = tmp_path / "german.toml"
    path.write_text(GERMAN, encoding="utf-8")
    return str(path)


def test_pack_changes_the_page_of_its_seat(german: str) -> None:
    _, pages = talk(says("Hm.", "Option: J"), "cot", rounds=1, arm=MINE, params={"pack": german})
    assert "Dies ist Runde 1.\nWas wählst du: Option J or Option F?" in pages[0]
    assert "Denke zuerst nach" in pages[0]  # a strategy's sentence, too
    assert "Das war nichts. Answer with" in pages[1]
    assert "Dies ist Runde 1.\nIn this round you pick Option J." in pages[2]


def test_kept_injection_stays_in_the_past_with_a_pack(german: str) -> None:
    kept_injection = Injection("agent", "their_move", keep=True)  # type: ignore[arg-type]
    params = {"pack": german}
    _, pages = talk(
        says("Option: F"), "oracle", rounds=3, injected=(kept_injection,), params=params
    )
    past = pages[2].partition("Dies ist Runde 3.")[0]
    assert past.count("In this round the other player will pick") == 3


def test_pack_changes_the_episode_id(german: str) -> None:
    registry.add("models", "listener", lambda name: Listener(says("Option: J")))
    plain, worded = (
        resolve_setup(setup_with("qa", params={"pack": pack} if pack else {}))
        for pack in ("", german)
    )
    assert episode_id(plain) != episode_id(worded)
    reference = worded.lineup["agent"].params["pack"]
    assert reference.startswith("german@") and str(Path(german).parent) not in reference
    Path(german).write_text(GERMAN.replace("Dies ist", "Das ist"), encoding="utf-8")
    other_setup = resolve_setup(setup_with("qa", params={"pack": german}))
    assert other_setup.lineup["agent"].params["pack"] != reference


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("now =", "nwo ="), "did you mean now"),
        (("{round}.", "{turn}."), "{turn} is not a placeholder of this text"),
        (('game = "ipd"', 'game = "rps"'), "'german' is for rps, not for ipd"),
        (("[texts]", "language = 1\n[texts]"), "unknown field `language`"),
        (('name = "german"', ""), "the key `name` is missing"),
        (('name = "german"', 'name = "a@b"'), "needs a name without @"),
        (("now = ", "now = 3 # "), "must be a text in quotes, not a whole number"),
        (("[texts]", "[texts"), "is not TOML"),
    ],
)
def test_invalid_pack_is_refused(german: str, change: tuple[str, str], why: str) -> None:
    Path(german).write_text(GERMAN.replace(*change, 1), encoding="utf-8")
    registry.add("models", "listener", lambda name: Listener(says("Option: J")))
    with pytest.raises(BadInput) as refused:
        resolve_setup(setup_with("qa", params={"pack": german}))
    assert why in str(refused.value)


def test_missing_pack_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        packs.find(str(tmp_path / "none.toml"))
    with pytest.raises(BadInput, match="did you mean repeated_games_terse"):
        packs.find("repeated_games_ters")
    with pytest.raises(BadInput, match="is not loaded"):
        packs.find("german@0123")


def test_store_keeps_pack_text_once_and_replay_checks_prompts(
    german: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.add("models", "listener", lambda name: Listener(says("Option: J")))
    setup = setup_with("qa", arm=MINE, params={"pack": german})
    cell = Cell("all", (setup.instance,), (setup.lineup,), dict(setup.arms), repeats=3)
    out = tmp_path / "out"
    run_study(Study("packed", "a study under a pack", (cell,)), out)
    (kept_file,) = (out / "packs").iterdir()
    Path(german).unlink()
    monkeypatch.setattr(packs, "_packs", {})  # another process, where nothing is known yet
    replay_check = check(store.load(out).episodes.values())
    assert (replay_check.episodes, replay_check.replayed, replay_check.unchecked) == (3, 3, [])
    monkeypatch.setattr(packs, "_packs", {})
    episodes = list(store.load(out).episodes.values())
    packs._packs.clear()
    # without its text, the prompts cannot be checked: no failure
    lost_replay_check = check(episodes)
    assert (
        lost_replay_check.replayed,
        lost_replay_check.mismatches,
        len(lost_replay_check.unchecked),
    ) == (3, [], 3)
    assert "is not loaded" in lost_replay_check.unchecked[0][1]
    assert packs.reference(packs.read_pack(kept_file)).endswith(f"@{kept_file.stem}")


keys = st.text(string.ascii_letters + ". -\"'#", min_size=1, max_size=8)


@given(
    st.dictionaries(keys, any_text(max_size=30).filter(lambda t: t.isprintable() or "\x7f" in t))
)
def test_pack_round_trips_through_its_file(texts: dict[str, str]) -> None:
    pack = Pack("any", "ipd", texts)
    if not any("\ud800" <= c <= "\udfff" for text in texts.values() for c in text):
        assert packs.parse_pack(packs.pack_as_toml(pack), "here") == pack


def test_shipped_packs_fit_their_games() -> None:
    own_packs = packs.shipped_packs()
    assert {"repeated_games_terse", "repeated_games_money"} <= set(own_packs)
    for pack in own_packs.values():
        check_pack(pack, {**every_strategy_text(), **registry.game(pack.game).texts})


@pytest.mark.parametrize("pack", ["repeated_games_terse", "repeated_games_money"])
@pytest.mark.parametrize("strategy", ["lm", "cot_3shot", "tom_guide"])
def test_shipped_packs_can_be_played(pack: str, strategy: str) -> None:
    reply = says("Reasoning: x\nPredicted Action: J\nOption: F")
    table: dict[str, Any] = {"rounds": 3, "arm": MINE, "params": {"pack": pack}}
    episode, pages = talk(reply, strategy, **table)
    _, plain = talk(reply, strategy, rounds=3, arm=MINE)
    assert episode.payoffs is not None
    assert all(page != counterpart for page, counterpart in zip(pages, plain, strict=True))
