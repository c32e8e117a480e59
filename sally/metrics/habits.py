"""Habits of choice: a fixed label, a fixed position, the predicted label, or a simple rule.

A key press is the choice of an option that the prompt lists under a label, at a position. A player
that chooses by habit can look as if it acted on a prediction, or as if it did not. Labels are those
in the prompt that the player was shown, so wordings with different labels are handled. The simple
rules are those of `sally.parts.simple_rules`, applied to the labels of past moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from sally.core.display.scenes import texts_of
from sally.core.errors import BadInput
from sally.core.rules.game import Seat
from sally.core.rules.menu import is_finite
from sally.core.rules.metric import JudgedReport, Metric, Played, cache_by_seat, mean
from sally.core.rules.words import Words
from sally.metrics.answers import list_counted_reports
from sally.metrics.consistency import judge_decision, list_decision_fits
from sally.parts.simple_rules import LAST, MOVES, OWN_LAST, RULES, PastRounds, move_after

MOST = 12  # options of a menu whose labels are counted; longer menus are lists, not keys


class KeyPress(msgspec.Struct, frozen=True, gc=False):
    """One move as a key press, the choice of an option from a labelled menu; options are given by
    their index in the menu."""

    turn: int
    chosen: int
    labels: tuple[str, ...]
    positions: tuple[int, ...]  # on the page, of each option
    predicted: int | None = None  # the option with the label of the player's own prediction
    rules: Mapping[str, int] = {}  # the option that a simple rule chooses, where it chooses one
    best: tuple[int, ...] | None = None  # best replies to the prediction; None without one
    decides: bool | None = None  # whether another prediction has other best replies

    @property
    def label(self) -> str:
        return self.labels[self.chosen]

    @property
    def position(self) -> int:
        return self.positions[self.chosen]


@cache_by_seat
def key_presses(played: Played, seat: Seat) -> list[KeyPress]:
    """Return a seat's moves as key presses: its choices from menus of 2 to 12 options."""
    menus = dict(_menus(played, seat))
    if not menus or (words := _words(played, seat)) is None:
        return []
    reports_by_turn = _single_reports(played, seat)
    fits = {decision.turn: decision for decision in list_decision_fits(played, seat)}
    presses: list[KeyPress] = []
    pasts: dict[tuple[str, str], PastRounds] = {}  # labels, by what is predicted of whom
    last_reports: dict[tuple[str, str], JudgedReport] = {}
    for turn in sorted({*menus, *reports_by_turn}):
        report, fit, label = reports_by_turn.get(turn), fits.get(turn), None
        key = ("", "") if report is None else (report.question.probe, report.question.about)
        past = PastRounds() if report is None else pasts.setdefault(key, PastRounds())
        if (menu := menus.get(turn)) is not None:
            move, labels = played.replay.move(turn, seat), words.menu(menu)
            label = labels[menu.index(move)]
            replies = _labelled_replies(played, seat, last_reports.get(key), labels)
            followed = {rule: move_after(past, rule, labels, replies) for rule in (*RULES, *MOVES)}
            followed[OWN_LAST] = presses[-1].label if presses else None  # of any round
            presses.append(
                KeyPress(
                    turn,
                    menu.index(move),
                    labels,
                    words.positions(menu),
                    _place(labels, _predicted_label(words, report)),
                    {
                        rule: labels.index(label)
                        for rule, label in followed.items()
                        if label in labels
                    },
                    None if fit is None else fit.best,
                    None if fit is None else fit.decides,
                )
            )
        if report is not None and turn not in played.replay.forfeited:
            # a forfeited round reveals nothing
            past.add(label, _label(words, report, report.truth))
            last_reports[key] = report
    return presses


def _labelled_replies(
    played: Played, seat: Seat, report: JudgedReport | None, labels: tuple[str, ...]
) -> Callable[[str], Sequence[str]]:
    """Return a function that returns the labels of the best replies to what the other did in the
    turn of a report."""

    def replies(label: str) -> Sequence[str]:
        if report is None or played.spec.measured.best_replies is None:
            return ()
        fit = judge_decision(played, seat, report.turn, {report.question.about: report.truth})
        return [labels[place] for place in fit.best] if fit is not None and fit.best else ()

    return replies


def _menus(played: Played, seat: Seat) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the turns in which a seat moved by choosing from a short menu, with the menu."""
    replay = played.replay
    for turn, moves in enumerate(replay.moves):
        if (move := moves.get(seat)) is None:
            continue
        menu = replay.game.options(replay.states[turn], seat)
        if is_finite(menu) and 1 < len(menu) <= MOST and move in menu:
            yield turn, menu


def _words(played: Played, seat: Seat) -> Words | None:
    """Return the words that a seat was shown; None if its words pack is not available."""
    spec, replay = played.spec, played.replay
    try:
        texts = texts_of(replay.lineup.get(seat))
    except BadInput:
        return None
    words = spec.words(replay.game, {**spec.texts, **texts})
    words.seat = seat
    return words


def _place(labels: tuple[str, ...], label: str | None) -> int | None:
    return labels.index(label) if label in labels else None


def _single_reports(played: Played, seat: Seat) -> dict[int, JudgedReport | None]:
    """Return the prediction about another of each turn; None where there are several."""
    reports: dict[int, JudgedReport | None] = {}
    for answer in list_counted_reports(played, seat):
        if played.spec.probe(answer.question.probe).of_mind and answer.question.kind != "values":
            turn = answer.report.turn
            reports[turn] = None if turn in reports else answer
    return reports


def _predicted_label(words: Words, answer: JudgedReport | None) -> str | None:
    return None if answer is None else _label(words, answer, answer.report.value)


def _label(words: Words, answer: JudgedReport, value: Any) -> str | None:
    if value not in answer.question.choices:
        return None
    return words.of(answer.question).choice_name(answer.question, value)


# --- sums over an episode, for a profile ----------------------------------------------------------

Keys = dict[str, tuple[int, int, int, int]]
"""Four counts by key: options of its menu, decisions that offer it, presses, and decisions in which
it is a best reply. A key is a label of a set of labels, or a position in a menu of a given
length."""


class FollowedRule(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How often a seat followed a simple rule, and the best replies that this would give it."""

    able: int  # presses for which the rule chooses an option
    followed: int
    fits: float  # expected best replies, among judged presses, if the rule is followed
    other_fits: float  # the same if any other option is pressed


class Habits(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Sums over the key presses of one seat; a key press is the choice of an option from a labelled
    menu."""

    presses: int = 0
    blind: float = 0.0  # chances of a blind pick to press what was pressed, summed: 1 / options
    imitable: int = 0  # presses with a prediction whose label is on the menu
    imitated: int = 0  # of these, presses of that label
    judged: int = 0  # presses with known best replies to the player's own prediction
    judged_fits: int = 0
    by_blind: float = 0.0  # expected best replies of a blind pick among these
    # Expected best replies if the predicted label is played, and if any other is. Without such a
    # label: a blind pick.
    by_predicted: float = 0.0
    by_unpredicted: float = 0.0
    decided: int = 0  # judged presses in which another prediction has other best replies
    undecided: int = 0  # judged presses in which all predictions have the same best replies
    keys: Keys = {}
    followed: dict[str, FollowedRule] = {}  # by simple rule


def habits(played: Played, seat: Seat) -> Habits:
    """Return the sums over the key presses of a seat, that is, over its choices from labelled
    menus."""
    return habits_of(key_presses(played, seat))


def habits_of(pressed: Sequence[KeyPress]) -> Habits:
    """Return the sums over key presses, that is, over choices from labelled menus."""
    if not pressed:
        return Habits()
    judged = [p for p in pressed if p.best is not None]
    predicted = [_if_followed(p, p.predicted) for p in judged]
    return Habits(
        presses=len(pressed),
        blind=sum(1 / len(p.labels) for p in pressed),
        imitable=sum(p.predicted is not None for p in pressed),
        imitated=sum(p.predicted == p.chosen for p in pressed),
        judged=len(judged),
        judged_fits=sum(p.chosen in (p.best or ()) for p in judged),
        by_blind=sum(len(p.best or ()) / len(p.labels) for p in judged),
        by_predicted=sum(chance for chance, _ in predicted),
        by_unpredicted=sum(other_chance for _, other_chance in predicted),
        decided=sum(p.decides is True for p in judged),
        undecided=sum(p.decides is False for p in judged),
        keys=_keys(pressed),
        followed=_followed_rules(pressed, judged),
    )


def _followed_rules(
    pressed: Sequence[KeyPress], judged: Sequence[KeyPress]
) -> dict[str, FollowedRule]:
    """Return the rules that choose an option in at least one press."""
    sums = {}
    for rule in dict.fromkeys(rule for press in pressed for rule in press.rules):
        options = [(press.rules.get(rule), press.chosen) for press in pressed]
        chances = [_if_followed(press, press.rules.get(rule)) for press in judged]
        sums[rule] = FollowedRule(
            able=sum(option is not None for option, _ in options),
            followed=sum(option == chosen for option, chosen in options),
            fits=sum(chance for chance, _ in chances),
            other_fits=sum(other_chance for _, other_chance in chances),
        )
    return sums


def _if_followed(press: KeyPress, option: int | None) -> tuple[float, float]:
    """Return the probability that an option is a best reply, and the probability that a random
    choice among the other options is one."""
    best, n_options = press.best or (), len(press.labels)
    if option is None:
        return len(best) / n_options, len(best) / n_options
    hit = option in best
    return float(hit), (len(best) - hit) / (n_options - 1)


LABEL, POSITION, MOVE = "label ", "position ", "move "  # with which the name of a key begins


@lru_cache(maxsize=1 << 12)  # most presses of an episode have the same menu
def _key_names(labels: tuple[str, ...], positions: tuple[int, ...]) -> list[tuple[str, str, str]]:
    """Return the names of each option's keys: by label, by position on the page and by move."""
    size, menu_labels = len(labels), "/".join(sorted(labels))
    return [
        (
            f"{LABEL}{label} of {menu_labels}",
            f"{POSITION}{position + 1} of {size}",
            f"{MOVE}{option + 1} of {size}",
        )
        for option, (label, position) in enumerate(zip(labels, positions, strict=True))
    ]


def _keys(pressed: Iterable[KeyPress]) -> Keys:
    sums_by_key: dict[str, list[int]] = {}
    for press in pressed:
        size, best = len(press.labels), press.best or ()
        for option, names in enumerate(_key_names(press.labels, press.positions)):
            for name in names:
                sums = sums_by_key.setdefault(name, [size, 0, 0, 0])
                sums[1] += 1
                sums[2] += option == press.chosen
                sums[3] += option in best
    return {
        name: (size, n_presses, n, best) for name, (size, n_presses, n, best) in sums_by_key.items()
    }


# --- metrics of an episode ------------------------------------------------------------------------


def _measure_concentration(
    of: Callable[[KeyPress], Hashable],
) -> Callable[[Played, Seat], float | None]:
    """Return a function that computes the share of the most frequent key, scaled so that random
    choices give 0."""

    def measure(played: Played, seat: Seat) -> float | None:
        pressed = key_presses(played, seat)
        even = sum(1 / len(p.labels) for p in pressed)
        if len(pressed) < 2:
            return None
        largest_count = max(Counter(map(of, pressed)).values())
        return (largest_count - even) / (len(pressed) - even)

    return measure


def _pressed_again(name: str, about: str, option: Callable[[KeyPress], int | None]) -> Metric:
    """Return the metric: the share of moves that choose an option, where there is one."""

    def measure(played: Played, seat: Seat) -> float | None:
        pressed = [(option(p), p.chosen) for p in key_presses(played, seat)]
        return mean(
            [float(previous == chosen) for previous, chosen in pressed if previous is not None]
        )

    return Metric(name, about, measure, bounds=(0, 1))


METRICS = (
    Metric(
        name="label_bias",
        about="concentration of moves on one label: 0 for a blind pick, 1 for always the same; in "
        "one episode labels, positions and meanings are confounded; for several, see "
        "`sally profile`",
        measure=_measure_concentration(lambda press: press.label),
        bounds=(-1, 1),
    ),
    Metric(
        name="position_bias",
        about="concentration of moves on one position on the page: 0 for a blind pick, 1 for "
        "always the same",
        measure=_measure_concentration(lambda press: press.position),
        bounds=(-1, 1),
    ),
    _pressed_again(
        "imitation",
        "share of moves with the label that the player itself predicted of the other",
        lambda press: press.predicted,
    ),
    _pressed_again(
        "copying",
        "share of moves with the label of the other's last known move",
        lambda press: press.rules.get(LAST),
    ),
    _pressed_again(
        "repetition",
        "share of moves with the label of the player's own last move",
        lambda press: press.rules.get(OWN_LAST),
    ),
)
