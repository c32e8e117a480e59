"""Figures of the published Hanabi games: scores, and kinds of moves given what the player knew.

A person is a cluster, also for the AI's moves, because these depend on the person. One person
played 28 % of the full record, so every figure is also available without that person and for first
games only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from sally.core.rules.metric import Played
from sally.games.hanabi.bots import BOTS
from sally.games.hanabi.judged_turns import JudgedTurn, judge_turns
from sally.games.hanabi.rules import Hanabi
from sally.papers.eger2017.importer import AI, PERSON
from sally.stats.cluster_interval import mean_by_rule, ratio_by_rule
from sally.stats.intervals import Estimate

AGREEMENT = ("smart", "holmes", "simple", "iggi", "outer", "piers", "van_den_bergh")
SHARE, PILES = (0.0, 1.0), (0.0, 25.0)
Part = Callable[[JudgedTurn], bool]


class SideGame(msgspec.Struct, frozen=True):
    """One side of one game."""

    episode: str  # its id
    person: str
    ai: str
    human: bool
    first: bool  # nothing was played before in the same browser
    recorded_score: float  # as recorded, also where the seats slip
    zero: float
    turns: tuple[JudgedTurn, ...]
    agrees: Mapping[str, int]  # moves that a bot might have made on the same view


def side_games(games: Iterable[Played], bots: Sequence[str] = ()) -> list[SideGame]:
    """Return both sides of every imported game, and how often each bot agrees with each side."""
    sides = []
    for played in games:
        episode = played.episode
        source, person, _ = episode.setup.instance.id.split(":")
        if source != "hanabidata":
            continue
        game, recorded_score = played.replay.rules(Hanabi), float(episode.used["recorded_score"])
        zero = 0.0 if episode.used["recorded_lives_lost"] >= game.lives else recorded_score
        for seat in (AI, PERSON):
            turns = tuple(judge_turns(played, seat))
            agrees: Counter[str] = Counter()
            for name in bots:
                policy = BOTS[name](game)
                agrees[name] = sum(
                    turn.action in policy(game.observe(turn.state_before, seat)) for turn in turns
                )
            sides.append(
                SideGame(
                    episode.id,
                    person,
                    episode.cell,
                    seat == PERSON,
                    not episode.used.get("previous"),
                    recorded_score,
                    zero,
                    turns,
                    dict(agrees),
                )
            )
    return sides


def _all(_: JudgedTurn) -> bool:
    return True


def _is(kind: str) -> Part:
    return lambda turn: turn.kind == kind


MEASURES: Mapping[str, tuple[Part, Part]] = {
    "hints": (_is("hint"), _all),
    "plays": (_is("play"), _all),
    "discards": (_is("discard"), _all),
    "hints that touch a playable card": (lambda t: t.touches_playable, _is("hint")),
    "hints at playable cards only": (lambda t: t.only_playable, _is("hint")),
    "hints that say nothing new": (lambda t: t.nothing_new, _is("hint")),
    "plays that succeed": (lambda t: t.scored, _is("play")),
    "plays that were certain": (lambda t: t.certain, _is("play")),
    "plays that could not succeed": (lambda t: t.hopeless, _is("play")),
    "sure but idle": (lambda t: t.idle, lambda t: t.sure),
    "discards of dead cards": (lambda t: t.dead, _is("discard")),
    "discards of a last copy": (lambda t: t.last_copy, _is("discard")),
}


def measure(games: Sequence[SideGame], name: str) -> Estimate:
    """Return the share of moves that a measure counts, with an interval in which persons are
    clusters."""
    part, count_all = MEASURES[name]
    return _share(
        games,
        [float(sum(map(part, g.turns))) for g in games],
        [float(sum(map(count_all, g.turns))) for g in games],
    )


def agreement(games: Sequence[SideGame], bot: str) -> Estimate:
    """Return the share of the recorded moves that the bot might also have chosen, given the same
    view."""
    return _share(
        games, [float(g.agrees[bot]) for g in games], [float(len(g.turns)) for g in games]
    )


def _share(games: Sequence[SideGame], part: list[float], totals: list[float]) -> Estimate:
    """Return a share of all moves with a t interval over persons, or a bounded interval near 0 or
    1. A beta-binomial interval is not used, because it is about the mean over persons, which
    differs from the share of moves if one person made a quarter of the moves.
    """
    people = [g.person for g in games]
    estimate = ratio_by_rule(part, totals, people)
    if estimate.low is None or estimate.high is None or (estimate.low > 0 and estimate.high < 1):
        return estimate
    return ratio_by_rule(part, totals, people, SHARE)


def score(games: Sequence[SideGame], zero: bool = False) -> Estimate:
    """Return the mean score over games, with persons as clusters."""
    ai_sides = [g for g in games if not g.human]
    values = [g.zero if zero else g.recorded_score for g in ai_sides]
    return mean_by_rule(values, [g.person for g in ai_sides], PILES)


def largest(games: Sequence[SideGame]) -> str:
    """Return the person with the most games."""
    return Counter(game.person for game in games).most_common(1)[0][0]


def subsets(games: Sequence[SideGame]) -> dict[str, list[SideGame]]:
    """Return all games, all games but those of the most frequent person, and first games only."""
    most_frequent = largest(games)
    return {
        "all games": list(games),
        "without the most frequent person": [g for g in games if g.person != most_frequent],
        "first games": [g for g in games if g.first],
    }
