"""Figures of moore2025, drawn from our games; the paper publishes them only as images."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Literal

from msgspec.structs import replace

from sally.analysis.episodes.paper_store import pool_mean
from sally.core.rules.metric import Played
from sally.games.mindgames import metrics
from sally.games.mindgames.rules import MESSAGES, TARGET
from sally.games.mindgames.target import random_success_formula
from sally.output.figures.paper_figures import Picture, Point, Series, point
from sally.output.tables.layout import Conditions
from sally.output.tables.reproduce import Effort, Known
from sally.papers.moore2025.layout import PERSUADERS
from sally.papers.moore2025.released_games import participant
from sally.stats.intervals import Estimate, share_interval

CONDITIONS = ("hidden", "revealed")
PLACES: Mapping[str, Mapping[str, str]] = {
    "condition": {condition: condition for condition in CONDITIONS},
    "variant": {
        "default": "none",
        "non_mental": "no minds",
        "add_hint": "hint",
        "perfect_game": "example",
        "discrete_game": "discrete",
    },
}
MOST_DISCLOSURES = 20
NOT_PRINTED = "The paper prints no values of this figure."
Measure = Callable[[Played], float]
ByMessage = Callable[[Played], Sequence[float]]


def cluster(facts: Conditions, played: Played) -> str:
    """Return the cluster of a game: the person who played it, or the puzzle if no person did."""
    puzzle = metrics.game_of(played).problem
    return str(facts["participant"]) or repr(
        (puzzle.utilities, puzzle.hidden, puzzle.target_values)
    )


def estimate_mean(games: Known, measure: Measure) -> Estimate:
    """Return the mean of a measure over games, with an interval clustered by person or puzzle."""
    values = [measure(played) for _, played in games]
    return _pool_values(values, games)


def _pool_values(values: Sequence[float], games: Known) -> Estimate:
    """Return an estimate: a share if the values are truth values, a mean if they are counts."""
    share = all(isinstance(value, bool) for value in values)
    ends = (0.0, 1.0) if share else (0.0, inf)
    together = [cluster(facts, played) for facts, played in games]
    people = all(facts["participant"] for facts, _ in games)
    return pool_mean([float(value) for value in values], together, ends, people)


RECORDED = "recorded_choice"  # in `used` of an imported episode


def recorded_choice(played: Played) -> int | None:
    """Return the recorded choice of an imported game; None if no choice was recorded."""
    letter = played.episode.used.get(TARGET, {}).get(RECORDED)
    letters = metrics.game_of(played).names.proposals
    return letters.index(letter) if letter in letters else None


def is_won(played: Played) -> bool:
    """Return whether the target finally chose the goal; for an imported game, the recorded choice
    counts.

    The recorded choice differs from the replayed one if the server restarted during the published
    game.
    """
    recorded = recorded_choice(played)
    if recorded is None:
        return metrics.would_win(played)[-1]
    return recorded == metrics.game_of(played).problem.goal


def by_condition(
    name: str, title: str, y: str, measure: Measure, games: Known, _: Effort
) -> Picture:
    """Draw the mean of a measure for each persuader, in the revealed and in the hidden
    condition."""
    done = [(f, p) for f, p in _finished_games(games) if f["variant"] == "default"]
    series = [
        _series_over(done, "persuader", persuader, "condition", measure)
        for persuader in _kinds(done)
    ]
    return _picture(name, title, "condition", y, series)


def by_variant(name: str, games: Known, _: Effort) -> Picture:
    """Draw how often persuaders succeed and how often they ask about everything, in the variants of
    the hidden condition."""
    done = [(f, p) for f, p in _finished_games(games) if f["condition"] == "hidden"]
    varied = _kinds([(f, p) for f, p in done if f["variant"] != "default"])
    series = [
        replace(_series_over(done, "persuader", persuader, "variant", measure), panel=panel)
        for panel, measure in (("success", is_won), ("asked for everything", _asked_all(True)))
        for persuader in varied
    ]
    return _picture(name, "Variants of hidden", "variant", "share of games", series)


def by_story(name: str, games: Known, _: Effort) -> Picture:
    """Draw people's success in each cover story."""
    done = [(f, p) for f, p in _finished_games(games) if f["persuader"] == "human"]
    series = [
        _series_over(done, "story", story, "condition", is_won) for story in _kinds(done, "story")
    ]
    title = "People, by cover story"
    return _picture(name, title, "condition", "success", series, note=NOT_PRINTED)


def _series_over(games: Known, key: str, value: str, x: str, measure: Measure) -> Series:
    """Return a series with the measure at every position on the x axis, empty where there is no
    game."""
    points = []
    for place, place_name in PLACES[x].items():
        place_games = [(f, p) for f, p in games if f[key] == value and f[x] == place]
        none = Point(place_name, None, None, 0)
        points.append(
            point(place_name, estimate_mean(place_games, measure)) if place_games else none
        )
    return Series("", PERSUADERS.get(value, value.replace("_", " ")), tuple(points))


SHARES = ("none", "under half", "half or more", "all")  # share of a person's games that were won


def by_person(name: str, games: Known, _: Effort) -> Picture:
    """Draw how many people won none, some or all of their games, with and without their first
    game."""
    done = [(f, p, participant(p)) for f, p in _finished_games(games)]
    series = []
    for panel, from_place in (("all games", 0), ("without the first", 1)):
        for condition in CONDITIONS:
            games_by_person: dict[str, list[tuple[int, bool]]] = {}
            for facts, played, person_game in done:
                if person_game is not None and facts["condition"] == condition:
                    games_by_person.setdefault(person_game.name, []).append(
                        (person_game.place, is_won(played))
                    )
            person_results = [
                [w for _, w in sorted(all_)][from_place:] for all_ in games_by_person.values()
            ]
            people = [_share(person) for person in person_results if person]
            points = tuple(
                point(share, share_interval(people.count(share), len(people))) for share in SHARES
            )
            if people:
                series.append(Series(panel, condition, points))
    title = "People by the share of their games won"
    return _picture(name, title, "won", "share of people", series, note=NOT_PRINTED)


def _share(wins: Sequence[bool]) -> str:
    part = sum(wins) / len(wins)
    return SHARES[3] if part == 1 else SHARES[0] if part == 0 else SHARES[1 + (part >= 0.5)]


def random_curve(name: str, _games: Known, _: Effort) -> Picture:
    """Draw the probability of winning by disclosing cells at random, for a target with frozen and
    for one with sequential memory."""
    series = [
        Series("", f"{memory} memory", tuple(
            Point(n, float(random_success_formula(n, memory)), None, 1)
            for n in range(1, MOST_DISCLOSURES + 1)
        ))
        for memory in ("frozen", "sequential")
    ]  # fmt: skip
    title = "Disclosing at random"
    note = "Exact; the paper's curve is the one with frozen memory."
    return Picture(name, title, "disclosures", "chance to win", "lines", tuple(series), note, 4)


def by_message(
    name: str, title: str, y: str, panels: Mapping[str, tuple[str, ByMessage]],
    games: Known, _: Effort,
) -> Picture:  # fmt: skip
    """Draw curves over the messages of a game, one panel for each condition and measure."""
    done = [(f, p) for f, p in _finished_games(games) if f["variant"] == "default"]
    series = [
        Series(panel, PERSUADERS.get(persuader, persuader), tuple(_curve(own_games, follow)))
        for panel, (condition, follow) in panels.items()
        for persuader in _kinds(done)
        if (
            own_games := [
                (f, p)
                for f, p in done
                if (f["persuader"], f["condition"]) == (persuader, condition)
            ]
        )
    ]
    return _picture(name, title, "message", y, series, "lines", NOT_PRINTED)


def _curve(games: Known, follow: ByMessage) -> Iterator[Point]:
    followed = [follow(played) for _, played in games]
    for message in range(MESSAGES):
        yield point(message + 1, _pool_values([values[message] for values in followed], games))


def _picture(
    name: str,
    title: str,
    x: str,
    y: str,
    series: Sequence[Series],
    kind: Literal["dots", "lines"] = "dots",
    note: str = "",
) -> Picture:
    missing = None if series else "no finished games of it"
    return Picture(name, title, x, y, kind, tuple(series), note, missing=missing)


def _finished_games(games: Known) -> list[tuple[Conditions, Played]]:
    return [
        (facts, played)
        for facts, played in games
        if metrics.is_finished(played) and len(metrics.choices(played)) == MESSAGES
    ]


def _kinds(games: Known, key: str = "persuader") -> list[str]:
    """Return the persuaders of these games, people first."""
    return sorted({str(facts[key]) for facts, _ in games}, key=lambda name: (name != "human", name))


def _asked_all(inferential: bool) -> Measure:
    return lambda played: metrics.appealed_to_all(played, inferential)


def _likes(played: Played) -> list[float]:
    return [len(new.likes) for new in metrics.new_appeals(played, inferential=True)]


def _cells(played: Played) -> list[float]:
    return [len(new.cells) for new in metrics.new_appeals(played, inferential=True)]


def _in_both(follow: ByMessage) -> dict[str, tuple[str, ByMessage]]:
    return {condition: (condition, follow) for condition in CONDITIONS}


EVERYTHING = "Everything asked for by the end of the game"
FIGURES: Mapping[str, Callable[[Known, Effort], Picture]] = {
    "figure2": partial(by_condition, "figure2", "Success", "share of games won", is_won),
    "figure3": partial(
        by_condition, "figure3", f"{EVERYTHING}, rankings counted", "share of games",
        _asked_all(True),
    ),
    "figure4": partial(by_variant, "figure4"),
    "figure5": partial(random_curve, "figure5"),
    "figure8": partial(by_story, "figure8"),
    "figure9": partial(by_person, "figure9"),
    "figure10": partial(
        by_message, "figure10", "Told and newly asked, hidden", "number a message",
        {
            "disclosures": ("hidden", metrics.disclosures),
            "likes asked for": ("hidden", _likes),
            "cells asked for": ("hidden", _cells),
        },
    ),
    "figure11": partial(
        by_message, "figure11", "Success by message, without look-ahead", "share of games",
        _in_both(metrics.would_win),
    ),
    "figure12": partial(
        by_message, "figure12", "Target at the trap by message", "share of games",
        _in_both(metrics.sunk),
    ),
    "figure13": partial(
        by_condition, "figure13", f"{EVERYTHING}, rankings not counted", "share of games",
        _asked_all(False),
    ),
}  # fmt: skip
