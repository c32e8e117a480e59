"""Episodes in the name of language models, played by scripts: known answers for the tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from sally import store
from sally.core.log.events import Censored, Episode, Injection, Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.models.stub import always
from sally.papers.kang2026.study import PROBES, scenarios
from sally.runner.local import play
from sally.runner.seating import resolve_setup, seat_player


def scenario_episode(
    game: str, level: int, number: int, bot: str, *, repeat: int = 0, asked: bool = False,
    told: float | None = None, **params: Any,
) -> Episode:  # fmt: skip
    """One scenario of ToMA in a model's name; the bot decides what the model knows and does."""
    spec, problem = registry.game(game), scenarios(game, level)[number]
    name = {"model": "qwen2.5-3b-instruct", "strategy": "zero_shot", **params}
    arms = {"player": (PROBES[game],)} if asked else {}
    tell = () if told is None else (Injection(Seat("player"), PROBES[game], error=told),)
    lineup = {"player": PlayerSpec("language", name)}
    setup = Setup(problem, 7, lineup, arms=arms, injections=tell, repeat=repeat)
    match = Match(spec, setup)
    Driver(match, {"player": seat_player(spec, match.game, Seat("player"), PlayerSpec(bot))}).run()
    return match.episode()


def repeated_episode(
    game: str, action: int, seed: int, *, plays: int = 0, rounds: int = 100, names: Any = None,
    **params: Any,
) -> Episode:  # fmt: skip
    """A repeated game in a model's name, which always plays and predicts one action."""
    spec = registry.game(game)
    player = PlayerSpec("language", {"model": "mistral-large-2", "strategy": "qa", **params})
    lineup = {"agent": player, "partner": PlayerSpec("single_action", {"action": action})}
    fields: dict[str, Any] = {
        "rounds": rounds,
        "names": list(names or "JFB"[: 3 - (game != "rps")]),
    }
    setup = Setup(Instance(game, game, fields), seed, lineup, arms={"agent": ("their_move",)})
    match = Match(spec, setup)
    same_player = PlayerSpec("single_action", {"action": plays})
    players = {
        "agent": seat_player(spec, match.game, Seat("agent"), same_player),
        "partner": seat_player(spec, match.game, Seat("partner"), lineup["partner"]),
    }
    Driver(match, players).run()
    return match.episode()


def cut(episode: Episode) -> Episode:
    """The episode as it would be if the budget had ended it before its first event."""
    return msgspec.structs.replace(episode, events=[Censored(0, "budget")])


def speechless_episode(game: str, level: int, number: int, **params: Any) -> Episode:
    """A scenario with a model that never gives a readable answer."""
    registry.add("models", "speechless", lambda name: always("I would rather not say."))
    name = {"model": "speechless", "strategy": "zero_shot", **params}
    lineup = {"player": PlayerSpec("language", name)}
    return play(resolve_setup(Setup(scenarios(game, level)[number], 7, lineup, retries=0)))


def stored(folder: Path, *episodes: Episode) -> Path:
    """A store of these episodes."""
    folder.mkdir(parents=True, exist_ok=True)
    with store.Writer(folder) as writer:
        for episode in episodes:
            writer.add(episode)
    return folder
