"""tang2024 around the game: the authors' chat, the study, its figures, the card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest

import sally
from sally.core.log.events import Episode, Forfeited, from_line, to_line
from sally.core.match.seat_context import SeatContext
from sally.core.prompt.model import Assistant, Message, Reply, Settings, User
from sally.core.registry import registry
from sally.frames.replays import replay_for_measures
from sally.games.pick_the_right_stuff.card import CARD, guess
from sally.games.pick_the_right_stuff.picks import picks
from sally.games.pick_the_right_stuff.rules import MANAGER
from sally.models.stub import Scripted
from sally.output.tables.reproduce import Effort
from sally.papers.tang2024.study import GAMES, STUDY, in_their_chat, on_our_page
from sally.papers.tang2024.tables import computes, facts
from sally.runner.check import check

NAME, MODEL = "pick_the_right_stuff", "locker-stub"
Shown = list[tuple[list[Message], Settings]]


def chat(*replies: str | Reply, **params: Any) -> tuple[Episode, Shown]:
    """A game in the authors' harness with these replies, and what the model was shown."""
    pages: Shown = []
    remaining_texts: Iterator[str | Reply] = iter(replies)

    def script(messages: Sequence[Message], settings: Settings) -> str | Reply:
        pages.append((list(messages), settings))
        return next(remaining_texts)

    registry.add("models", MODEL, lambda name: Scripted(script, name=name))
    name = f"{MODEL}:{len(replies)}:{hash((replies, str(params)))}"  # a model is made once a name
    actual_params = {"users": 3, "wording": "published", **params}
    return sally.play(NAME, {"manager": in_their_chat(name)}, retries=0, **actual_params), pages


def announcements(episode: Episode) -> list[str]:
    """All that the manager had been told when it was asked for the last time."""
    full_match = replay_for_measures(episode)
    context = SeatContext(full_match.spec, full_match.replay.game, MANAGER, 1)
    turn = max(e.turn for e in episode.events if getattr(e, "seat", "") == MANAGER)
    return list(
        context.words.lines(full_match.replay.view(turn, MANAGER), 0, context.words.forms[0])
    )


# --- the chat -----------------------------------------------------------------------------------


def test_game_is_one_chat_with_a_message_per_announcement() -> None:
    episode, pages = chat("1", "no idea", "2")
    last, settings = pages[-1]
    assert (settings.max_tokens, settings.temperature) == (20, 0)
    assert [m.text for m in last if isinstance(m, Assistant)] == ["1", "no idea"]
    texts = [m.text for m in last if isinstance(m, User)]
    assert texts[0].startswith("You manage a warehouse.")
    assert [text for text in texts[1:] if "Answer with" not in text] == announcements(episode)
    for (previous, _), (following, _) in pairwise(pages):
        assert following[: len(previous)] == previous


def test_new_game_starts_a_new_chat() -> None:
    _, pages = chat("0", "0", "0", number=1)
    assert not any(isinstance(m, Assistant) for m in pages[0][0])


def test_unreadable_answer_is_forfeited_and_wrong_in_published_score() -> None:
    episode, pages = chat("1", "no idea", "Answer: 2")
    assert len(pages) == 3
    assert sum(isinstance(e, Forfeited) for e in episode.events) == 2
    (row,) = sally.episodes([episode])
    assert (row["score"], row["score_published"]) == (100, pytest.approx(100 / 3))


def test_truncated_answer_is_read_as_far_as_it_goes() -> None:
    cut = Reply("The user will go to position 1, because", finish="length")
    episode, _ = chat(cut, "0", "0")
    (first, *_) = picks(replay_for_measures(episode), MANAGER)
    assert first.answered == 1


def test_chat_replays_from_disk_with_the_same_prompts() -> None:
    episode, _ = chat("1", "hm", "0", mode="finite")
    replay_check = check([from_line(to_line(episode))])
    assert (replay_check.replayed, replay_check.mismatches, replay_check.unchecked) == (1, [], [])


# --- the study and its figures ------------------------------------------------------------------


def test_study_has_every_condition_and_no_retry_in_the_authors_harness() -> None:
    names = {cell.name for cell in STUDY.cells}
    sets = ("published zero", "published finite", "balanced zero", "balanced finite", "infinite")
    assert names == {f"{s}{part}" for s in sets for part in ("", ", probed", ", chat")}
    for cell in STUDY.cells:
        assert len(cell.instances) == GAMES
        assert cell.retries == (0 if cell.name.endswith("chat") else None)
    retries = {cell: setup.retries for cell, setup in STUDY.trials()}
    assert (retries["infinite"], retries["infinite, chat"]) == (2, 0)


def test_only_the_published_condition_is_matched_to_the_paper() -> None:
    their_episode, _ = chat("0", "0", "0", "0", "0", users=5, generator="published", mode="finite")
    known_conditions = facts(replay_for_measures(their_episode))
    assert known_conditions is not None
    assert known_conditions["belief_history"] == "finite"
    for params in ({"generator": "balanced"}, {"generator": "published", "generator_seed": 1}):
        other_episode, _ = chat("0", "0", "0", "0", "0", users=5, **params)
        assert facts(replay_for_measures(other_episode)) is None
    assert (
        facts(replay_for_measures(sally.play(NAME, {"manager": "start"}, generator="published")))
        is None
    )


@pytest.mark.parametrize(
    ("player", "mode", "about"),
    [
        ("start", "zero", 75.5),
        ("start", "finite", 79.3),
        ("true", "zero", 33.8),
        ("true", "finite", 28.1),
    ],
)
def test_mindless_managers_score_as_in_the_protocol(player: str, mode: str, about: float) -> None:
    estimate = computes({"player": player, "belief_history": mode}, "score", Effort(2000, 1))
    assert estimate is not None
    assert estimate.value is not None and estimate.low is not None and estimate.high is not None
    half = (estimate.high - estimate.low) / 2
    # four comparisons: two half-widths are about four standard errors, so a wrong figure fails
    assert abs(estimate.value - about) <= 2 * half
    assert half < 1.5


# --- the card -------------------------------------------------------------------------------------


def test_card_pairs_every_rule_with_its_inverse_and_audits_generated_games() -> None:
    assert guess(3) == pytest.approx(100 * (1 + 1 / 2 + 1 / 3) / 3)
    known_partners = registry.partners(NAME)
    for condition in CARD.conditions:
        for pair in condition.shortcuts:
            assert pair.inverse.player == f"but_{pair.rule.player}"
            assert {pair.rule.player, pair.inverse.player} <= set(known_partners)
        generated = all("generator_seed" in i.params for i in condition.instances)
        assert generated is not condition.name.startswith("frozen")


def test_own_wording_also_uses_temperature_zero() -> None:
    assert on_our_page("m").params["settings"] == {"temperature": 0.0}
