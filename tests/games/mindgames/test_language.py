"""A language model as the persuader: it thinks, writes, is sent back, and is asked aside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally.core.log.events import Episode, Forfeited, Instance, Moved, PlayerSpec, Reported, Setup
from sally.core.match.engine import Match
from sally.core.prompt.model import Message
from sally.core.registry import registry
from sally.games.mindgames import GAME, metrics
from sally.models.stub import Scripted as ScriptedModel
from sally.runner.check import check
from sally.runner.seating import players_of, resolve_setup
from tests.games.mindgames.table import PUZZLE, X, Y, Z, laid_open, run

GOLDEN = Path(__file__).parent / "pages" / "conversation.txt"
PROBES = ("target_choice", "target_likes", "target_knows")
LINES = [
    "<think>It may like anything.</think>I ask first.\n---\nWhat do you like, and what do you know "
    "about each proposal?",
    f"A needs its speed told, C its own.\n---\nProposal A increases {Y}. Proposal C increases {Y}.",
    f"That was wrong: C decreases it.\n---\nProposal A increases {Y}. Proposal C decreases {Y}.",
    "Did it work?\n---\nWhich proposal do you prefer now?",
]


def conversation(
    replies: Any, strategy: str = "qa", retries: int = 2, arms: Any = None, **params: Any
) -> tuple[Episode, list[str]]:
    """A game of three messages under a scripted model, with the prompts it was shown."""
    prompts: list[str] = []

    def script(messages: Sequence[Message], settings: Any) -> str:
        prompts.append("\n".join(m.text for m in messages))
        text: str = replies(prompts[-1], len(prompts) - 1)
        return text

    registry.add("models", "talking", lambda name: ScriptedModel(script, name=name))
    registry._make_model.cache_clear()
    player = PlayerSpec("language", {"model": "talking", "strategy": strategy})
    actual_params = {"puzzle": msgspec.to_builtins(PUZZLE), "messages": 3, **params}
    setup = Setup(
        Instance("t", "mindgames", actual_params),
        1,
        {"persuader": player},
        retries=retries,
        arms=arms or {},
    )
    match: Match = Match(GAME, resolve_setup(setup))
    return run(match, players_of(match)), prompts


def by_the_script(prompt: str, number: int) -> str:
    return LINES[number]


def test_model_that_asks_and_corrects_an_error_wins() -> None:
    episode, prompts = conversation(by_the_script)
    assert episode.payoffs == {"persuader": 1.0}
    assert len(prompts) == 4  # the message that came back cost no turn
    assert "(Your thoughts: I ask first.)" in prompts[1] and "It may like" not in prompts[1]
    assert f"I dislike {X}, I like {Y} and I am indifferent to {Z}." in prompts[1]
    assert f"It says that proposal C increases {Y}, and that is not so." in prompts[2]
    assert metrics.turned_down(laid_open(episode)) == 1
    checked = check([episode])
    assert (checked.replayed, checked.mismatches, checked.unchecked) == (1, [], [])


def test_conversation_equals_golden_file() -> None:
    """If a change is meant, raise words_version and run this file as a module to write it."""
    assert golden() == GOLDEN.read_text(encoding="utf-8")


def golden() -> str:
    _, prompts = conversation(by_the_script)
    parts = [f"=== page ===\n{p}\n=== reply ===\n{r}" for p, r in zip(prompts, LINES, strict=True)]
    return "\n".join(parts) + "\n"


def test_model_that_only_lies_forfeits_every_message() -> None:
    episode, prompts = conversation(lambda p, n: f"---\nProposal A decreases {Y}.", retries=1)
    lost_events = [e for e in episode.events if isinstance(e, Forfeited)]
    assert [e.reason for e in lost_events] == ["rejected"] * 3
    assert len(prompts) == 6 and episode.payoffs == {"persuader": 0.0}


def test_model_that_writes_nothing_forfeits_and_gets_advice() -> None:
    episode, prompts = conversation(lambda p, n: "Only thoughts.\n---\n", retries=1)
    assert "Write a message below the line `---`." in prompts[1]
    assert {e.reason for e in episode.events if isinstance(e, Forfeited)} == {"unreadable"}


def test_probes_are_answered_and_scored_without_changing_play() -> None:
    cells = [f"proposal {p} on {a}" for p in "ABC" for a in (X, Y, Z)]
    answers = {
        "had to choose": "Option: proposal C",
        "believe the other player likes": f"{X}: -1\n{Y}: 1\n{Z}: 0",
        "believe the other player knows": "\n".join(
            f"{cell}: {int((n // 3, n % 3) in PUZZLE.visible)}" for n, cell in enumerate(cells)
        ),
    }

    def answer(prompt: str, number: int) -> str:
        aside = [text for key, text in answers.items() if key in prompt]
        return aside[0] if aside else "Hm.\n---\nThank you."

    episode, _ = conversation(answer, arms={"persuader": PROBES})
    played = laid_open(episode)
    reports = [e for e in episode.events if isinstance(e, Reported)]
    assert len(reports) == 9 and all(r.value is not None for r in reports)
    metrics = registry.metrics("mindgames")
    assert metrics["tom_percent"].measure(played, "persuader") == 100.0  # type: ignore[arg-type]
    assert metrics["value_error"].measure(played, "persuader") == 0.0  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", ["cot", "reflexion", "tom_cot"])
def test_other_strategies_write_messages_too(strategy: str) -> None:
    def answer(prompt: str, number: int) -> str:
        return "Option: proposal C\n---\nThank you."

    episode, _ = conversation(answer, strategy)
    events = [e for e in episode.events if isinstance(e, Moved) and e.seat == "persuader"]
    assert len(events) == 3


def test_discrete_game_takes_json_and_returns_bad_json() -> None:
    lines = ["Hello.", '{"inferential": ["A"]}', "Plan.\n---\n{}", "{}"]
    episode, prompts = conversation(lambda p, n: lines[n], variant="discrete_game")
    assert "must be one JSON object" in prompts[1]
    assert '"chosen": true' in prompts[2]
    assert not [e for e in episode.events if isinstance(e, Moved) and e.seat == "reader"]


if __name__ == "__main__":
    GOLDEN.write_text(golden(), encoding="utf-8")
