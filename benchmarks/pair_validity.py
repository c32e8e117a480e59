"""Do scores on certified pairs agree with gains in whole games?

    python -m benchmarks.pair_validity repeated

plays bots, dialled players and learners on pairs of five repeated games and, against other
partners of the same class, in whole games of 20 rounds; it correlates J of moves with doing
(0: a random player, 1: the exact optimum) over players.

    python -m benchmarks.pair_validity models

compares J of moves in Sally-2 with doing in whole episodes of Sally-1, over the three local models
(shipped bundles) and the bots of graded skill that play both suites.

Intervals of correlations: 2,000 bootstrap samples of players.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
import numpy as np
import polars as pl
import scipy

from sally import store
from sally.analysis.evaluation import evaluate
from sally.analysis.pairs.positions import open_position, position_setup, right_answers
from sally.analysis.pairs.score import join_pairs, read_position, score_player
from sally.api.pair_evaluation import evaluation_of_episodes
from sally.core.match.partner import Automaton
from sally.core.registry import registry
from sally.core.registry.recipes import find_recipe, recipes_of
from sally.core.rules.chance import Stream, derived_seed
from sally.core.rules.pair import Pair, draw_pair
from sally.frames.frame import as_frame
from sally.games.repeated_games.optimum import machine_of, optimal_reward, random_reward
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.parts.machines import expected_move, what_followed
from sally.runner import local
from sally.runner.seating import resolve_setup
from sally.stats.pairs import outcome_of
from sally.store.bundles import open_store
from sally.studies import sally_1, sally_2

ROOT = Path(__file__).parent.parent
PAIR_SEED, PARTNER_SEED = 71, 72
PAIRS, PARTNERS, ROUNDS = 120, 60, 20
SAMPLES = 2000
MODELS = ("qwen-0.5b", "qwen-1.5b", "smollm2")
SOLVED = ("pick_the_right_stuff", "battery", "toma_po", "toma_mg")  # by a bot that knows no pool
GRADED = ("random", "noisy_75", "noisy_50", "noisy_25", "best_bot")
BOT_PAIRS = 60

Moves = Sequence[int]
Reply = Callable[[int], Sequence[int]]  # the best replies to a predicted move


class RepeatedPlayer(msgspec.Struct, frozen=True):
    """A player of repeated games that decides from the rounds so far."""

    name: str
    kind: str
    decide: Callable[[Moves, Moves, int, Reply, Stream], int]


# --- players of repeated games --------------------------------------------------------------------


def reply_to(predict: Callable[[Moves, Moves, int], int | None]) -> Callable[..., int]:
    """Return a player that gives the best reply to a prediction; it guesses without one."""

    def decide(own_moves: Moves, their: Moves, count: int, replies: Reply, chance: Stream) -> int:
        predicted = predict(own_moves, their, count) if own_moves else None
        return chance.below(count) if predicted is None else replies(predicted)[0]

    return decide


def dial(knows: float, acts: float) -> Callable[..., int]:
    """Return a reasoner of order 2 that knows and acts with given probabilities."""

    def decide(own_moves: Moves, their: Moves, count: int, replies: Reply, chance: Stream) -> int:
        is_known = bool(own_moves) and chance() < knows
        predicted = expected_move(own_moves, their, 2) if is_known else chance.below(count)
        return replies(predicted)[0] if chance() < acts else chance.below(count)

    return decide


def most_frequent(own_moves: Moves, their: Moves, count: int) -> int:
    return max(range(count), key=lambda move: (their.count(move), -move))


def learn_values(own_moves: Moves, their: Moves, count: int, replies: Reply, chance: Stream) -> int:
    """Repeat the move that was a best reply most often after the same round as the last one."""
    if len(own_moves) < 2:
        return chance.below(count)
    rounds = list(zip(own_moves, their, strict=True))
    wins = [0] * count
    for earlier, later in pairwise(rounds):
        if earlier == rounds[-1]:
            for move in replies(later[1]):
                wins[move] += 1
    return chance.pick([move for move in range(count) if wins[move] == max(wins)])


def stay_or_shift(
    own_moves: Moves, their: Moves, count: int, replies: Reply, chance: Stream
) -> int:
    if not own_moves:
        return 0
    return own_moves[-1] if own_moves[-1] in replies(their[-1]) else (own_moves[-1] + 1) % count


def repeated_players() -> list[RepeatedPlayer]:
    """Return bots, learners and dialled players."""
    players = [
        RepeatedPlayer("random", "bot", lambda own_moves, their, count, replies, c: c.below(count)),
        RepeatedPlayer("always option 0", "bot", lambda own_moves, their, count, replies, c: 0),
        RepeatedPlayer("always option 1", "bot", lambda own_moves, their, count, replies, c: 1),
        RepeatedPlayer("win stay, lose shift", "bot", stay_or_shift),
        RepeatedPlayer("copy their last move", "bot",
                       lambda own_moves, their, count, replies, c: their[-1] if own_moves else 0),
        RepeatedPlayer("reply to our last move", "bot",
                       reply_to(lambda own_moves, their, n: own_moves[-1])),
    ]  # fmt: skip
    tables: dict[str, Callable[[Moves, Moves, int], int | None]] = {
        "fictitious play": most_frequent,
        "what followed its last move": lambda own_moves, their, n: what_followed(
            own_moves, their, False, True
        ),
        "what followed our last move": lambda own_moves, their, n: what_followed(
            own_moves, their, True, False
        ),
        "what followed the last round": lambda own_moves, their, n: what_followed(
            own_moves, their, True, True
        ),
        **{
            f"reasoner of order {order}": lambda own_moves, their, n, order=order: expected_move(
                own_moves, their, order
            )
            for order in (0, 1, 2)
        },
    }
    players += [RepeatedPlayer(name, "learner", reply_to(rule)) for name, rule in tables.items()]
    players.append(RepeatedPlayer("values after the last round", "learner", learn_values))
    players += [
        RepeatedPlayer(f"knows {knows}, acts {acts}", "dialled", dial(knows, acts))
        for knows, acts in ((0.2, 1), (0.4, 1), (0.6, 1), (0.8, 1), (1, 0.2), (1, 0.4), (1, 0.6),
                            (1, 0.8), (0.5, 0.5))
    ]  # fmt: skip
    return players


class OpenMember(msgspec.Struct, frozen=True):
    """One position of a pair as players of repeated games see it."""

    own_moves: list[int]
    their: list[int]
    count: int  # moves on the menu
    replies: Reply
    right: tuple[int, ...]


class WholeGame(msgspec.Struct, frozen=True):
    """A partner in a whole game, with what a random and a perfect player earn against it."""

    id: str
    game: Any
    automaton: Automaton[Any]
    by_chance: float
    optimum: float


def draw_pairs(game: str, recipe: str, seed: int, count: int) -> list[Pair]:
    """Return pairs of a recipe: orders 1 and 2 in turn."""
    kind = find_recipe(game, recipe)
    return [draw_pair(kind, 1 + number % 2, seed, number // 2) for number in range(count)]


def best_replies(game: Any) -> Reply:
    return lambda move: game.best_replies(AGENT, move)


def open_member(pair: Pair, member: int) -> OpenMember:
    recipe = find_recipe(pair.game, pair.recipe)
    position = open_position(recipe, pair, member)
    past = pair.members[member].past
    return OpenMember(
        [moves[AGENT] for moves in past],
        [moves[PARTNER] for moves in past],
        len(position.game.moves_of(AGENT)),
        best_replies(position.game),
        right_answers(recipe, position)["do"],
    )


def score_on_pairs(player: RepeatedPlayer, pairs: Sequence[tuple[OpenMember, OpenMember]]) -> float:
    """Return J of a player's moves on pairs of one recipe."""
    values = []
    for number, members in enumerate(pairs):
        first, second = (
            player.decide(
                position.own_moves,
                position.their,
                position.count,
                position.replies,
                Stream("pairs", player.name, number, member),
            )
            for member, position in enumerate(members)
        )
        values.append(outcome_of((first, second), (members[0].right, members[1].right)).j)
    return fmean(values)


def whole_game(pair: Pair) -> WholeGame:
    """Return a whole game against the partner of a pair's first position."""
    game: Any = registry.game(pair.game).build({**pair.members[0].params, "rounds": ROUNDS})
    spec = pair.members[0].others[PARTNER]
    partner = registry.partners(registry.family(pair.game).name)[spec.player]
    assert partner.automaton is not None
    automaton = partner.automaton(game, PARTNER, **spec.params)
    by_chance = random_reward(game, AGENT, machine_of(game, AGENT, automaton), ROUNDS)
    optimum = optimal_reward(game, AGENT, automaton, ROUNDS)
    return WholeGame(pair.id, game, automaton, by_chance, optimum)


def play_whole_games(player: RepeatedPlayer, games: Sequence[WholeGame]) -> float:
    """Return doing: what a player gains over a random one, as a share of what can be gained."""
    gained = 0.0
    for whole_game in games:
        game, automaton = whole_game.game, whole_game.automaton
        own_moves: list[int] = []
        their: list[int] = []
        state = automaton.start
        for number in range(ROUNDS):
            chance = Stream("whole", player.name, whole_game.id, number)
            replies = best_replies(game)
            move = player.decide(own_moves, their, len(game.moves_of(AGENT)), replies, chance)
            odds = automaton.odds(state)
            answer = max(odds, key=lambda option: odds[option])
            gained += game.pay(AGENT, move, answer)
            state = automaton.after(state, answer, move)
            own_moves.append(move)
            their.append(answer)
        gained -= whole_game.by_chance
    return gained / sum(whole_game.optimum - whole_game.by_chance for whole_game in games)


# --- correlations ---------------------------------------------------------------------------------


def correlate(first: Sequence[float], second: Sequence[float]) -> str:
    """Return Pearson's and Spearman's correlation with bootstrap intervals over players."""
    x, y = np.array(first), np.array(second)
    draws = np.random.default_rng(1)
    parts = []
    for name, measure in (("r", scipy.stats.pearsonr), ("rho", scipy.stats.spearmanr)):
        samples = []
        for _ in range(SAMPLES):
            chosen = draws.integers(len(x), size=len(x))
            if np.ptp(x[chosen]) and np.ptp(y[chosen]):
                samples.append(measure(x[chosen], y[chosen])[0])
        low, high = np.quantile(samples, [0.025, 0.975])
        parts.append(f"{name} {measure(x, y)[0]:.2f} [{low:.2f}, {high:.2f}]")
    return f"{', '.join(parts)}, n {len(x)}"


def report_repeated() -> None:
    """Print J on pairs and doing in whole games of every player, and their correlations."""
    recipes = [(recipe.game, recipe.name) for recipe in recipes_of("repeated_games")]
    players = repeated_players()
    scores: dict[str, list[tuple[float, float]]] = {player.name: [] for player in players}
    for game, recipe in recipes:
        pairs = [
            (open_member(pair, 0), open_member(pair, 1))
            for pair in draw_pairs(game, recipe, PAIR_SEED, PAIRS)
        ]
        games = [whole_game(pair) for pair in draw_pairs(game, recipe, PARTNER_SEED, PARTNERS)]
        for player in players:
            on_pairs = score_on_pairs(player, pairs)
            scores[player.name].append((on_pairs, play_whole_games(player, games)))
        columns = list(zip(*(scores[player.name][-1] for player in players), strict=True))
        print(f"{recipe}: {correlate(*columns)}", flush=True)
    print("\n| player | kind | J of moves in pairs | doing in whole games |\n|---|---|---|---|")
    means = {name: tuple(map(fmean, zip(*rows, strict=True))) for name, rows in scores.items()}
    for player in players:
        on_pairs, doing = means[player.name]
        print(f"| {player.name} | {player.kind} | {on_pairs:.2f} | {doing:.2f} |")
    for kinds in (("bot", "learner", "dialled"), ("bot", "learner"), ("dialled",)):
        chosen = [means[player.name] for player in players if player.kind in kinds]
        print(f"means over games, {', '.join(kinds)}: {correlate(*zip(*chosen, strict=True))}")


# --- models and graded bots -----------------------------------------------------------------------


def doing_in_sally_1(name: str) -> dict[str, float]:
    """Return doing by game in whole episodes of a shipped evaluation on Sally-1."""
    with open_store(ROOT / "docs" / "board" / f"{name}.sally.zip") as (place, _):
        frame = as_frame(place).filter(~pl.col("cut") & pl.col("game").is_in(sally_2.GAMES))
        evaluation = evaluate(frame, player=name, suite="Sally-1")
    return {
        game.game: game.doing.value for game in evaluation.games if game.doing.value is not None
    }


def moves_of_model(name: str) -> dict[str, float]:
    """Return J of moves by game of a shipped evaluation on Sally-2."""
    with open_store(ROOT / "docs/results/bundles" / f"sally_2-{name}.sally.zip") as (place, _):
        episodes = [e for e in store.load(place).episodes.values() if not store.to_run_again(e)]
    evaluation = evaluation_of_episodes(episodes, sally_2.suite("M"), len(episodes))
    return {
        game.game: game.doing.j.value
        for game in evaluation.games
        if game.doing is not None and game.doing.j.value is not None
    }


def moves_of_bot(name: str) -> dict[str, float]:
    """Return J of moves of a bot of graded skill on the first pairs of Sally-2."""
    scores = {}
    for game in SOLVED:
        positions = []
        for pair in sally_2.frozen_pairs(game)[:BOT_PAIRS]:
            recipe = find_recipe(pair.game, pair.recipe)
            for member in (0, 1):
                player = sally_1.BOTS[name](game, pair.members[member].others)
                assert player is not None
                seed = derived_seed(1, pair.id, member)
                setup = position_setup(recipe, pair, member, player, "do", seed=seed)
                positions.append(read_position(local.play(resolve_setup(setup))))
        score = score_player(join_pairs(filter(None, positions))).doing
        assert score is not None and score.j.value is not None
        scores[game] = score.j.value
    return scores


def report_models() -> None:
    """Print J of moves in Sally-2 beside doing in Sally-1, and their correlations."""
    points: dict[str, list[tuple[float, float]]] = {"model": [], "bot": []}
    print("| player | game | J of moves in pairs | doing in whole episodes |\n|---|---|---|---|")
    players: Mapping[str, Callable[[str], dict[str, float]]] = {
        **dict.fromkeys(MODELS, moves_of_model),
        **dict.fromkeys(GRADED, moves_of_bot),
    }
    for name, moves_of in players.items():
        doing = doing_in_sally_1(name)
        for game, value in moves_of(name).items():
            if game in doing:
                points["model" if name in MODELS else "bot"].append((value, doing[game]))
                print(f"| {name} | `{game}` | {value:.2f} | {doing[game]:.2f} |", flush=True)
    for kind, rows in (*points.items(), ("both", [*points["model"], *points["bot"]])):
        print(f"players and games, {kind}: {correlate(*zip(*rows, strict=True))}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=["repeated", "models"])
    {"repeated": report_repeated, "models": report_models}[parser.parse_args().part]()


if __name__ == "__main__":
    main()
