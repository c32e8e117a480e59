"""Readers of the battery: one that tracks beliefs, shallower ones, and mindless rules."""

from __future__ import annotations

from collections.abc import Callable

from sally.core.errors import BadInput
from sally.core.match.partner import Answerer, Partner, Script, by_name, describe_rule
from sally.core.match.player import NoAnswer, Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport
from sally.games.battery.items import Item
from sally.games.battery.mindless import SURFACE, Rule
from sally.games.battery.rules import Battery, View

OURS = "ours; what a score on a battery must be read against"
Answers = Callable[[Item], tuple[int, ...]]


def _item(game: Battery, view: View) -> Item:
    return game.schedule[view.turn].item


def _script(answer: Answers) -> Callable[..., Script]:
    """Return a factory of readers that draw uniformly from the options that `answer` returns."""

    def make_script(game: Battery, seat: Seat) -> Script:
        def script(turn: Turn[int, View]) -> int:
            options = answer(_item(game, turn.view))
            assert turn.view.asked is not None
            return turn.view.asked.base + turn.draws.pick(options)

        return script

    return make_script


def _believes(game: Battery, seat: Seat) -> Answerer:
    def answer(turn: Turn) -> ProbeReport | NoAnswer:
        belief = _item(game, turn.view).belief
        return NoAnswer("nothing is asked") if belief is None else ProbeReport(belief.answer)

    return answer


def _all_options(item: Item) -> tuple[int, ...]:
    return tuple(range(len(item.options)))


def _to_depth(game: Battery, seat: Seat, k: int = 0) -> Script:
    """Return a reader that gives the answer of depth k, or guesses if an item lists no answers
    by depth."""
    if not isinstance(k, int):
        raise BadInput(f"k must be a whole number, not {k!r}")

    def choose(item: Item) -> tuple[int, ...]:
        if not item.by_depth:
            return _all_options(item)
        return (item.by_depth[min(k, len(item.by_depth) - 1)],)

    return _script(choose)(game, seat)


def _skipping(game: Battery, seat: Seat, what: str = "where_it_is") -> Script:
    """Return a reader that skips part of the reasoning, or guesses if an item does not list the
    resulting answer."""
    if not isinstance(what, str):
        raise BadInput(f"what must be the name of a part, such as where_it_is, not {what!r}")

    def choose(item: Item) -> tuple[int, ...]:
        return (item.mindless[what],) if what in item.mindless else _all_options(item)

    return _script(choose)(game, seat)


def _surface(name: str, rule: Rule) -> Partner:
    return Partner(name, describe_rule(rule), OURS, _script(rule), memory=0)


PARTNERS = by_name(
    Partner(
        "believer",
        "the answer of the belief rule; the reference, right in every item",
        "ours",
        _script(lambda item: (item.answer,)),
        answers=_believes,
        memory=0,
    ),
    Partner(
        "reader_of_depth",
        "follows the last `k` minds of a chain; 0: what is so",
        "ours",
        _to_depth,
        params={"k": 0},
        memory=0,
    ),
    Partner(
        "skips",
        "skips part of the reasoning: `what` is where_it_is, talk_ignored, old_state, "
        "other_person, always_aware and others, by generator",
        OURS,
        _skipping,
        params={"what": "where_it_is"},
        memory=0,
    ),
    *(_surface(name, rule) for name, rule in SURFACE.items()),
)
