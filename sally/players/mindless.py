"""Players without theory of mind: the baseline of every score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from inspect import isawaitable
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.match.answers import as_answer
from sally.core.match.partner import Scripted, by_name
from sally.core.match.player import Decision, NoAnswer, Player, PlayerKind, Turn, send_ask
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.menu import example, is_finite
from sally.core.rules.probe import ProbeReport, Question


class Random(msgspec.Struct, frozen=True):
    """A player that picks options, and answers probes, uniformly at random."""

    def decide(self, turn: Turn) -> Decision[Any]:
        return Decision(example(turn.options, turn.draws))

    def report(self, turn: Turn) -> ProbeReport:
        question = question_of(turn)
        if question.kind == "values":
            draws = turn.draws
            span = int(question.high - question.low) + 1
            return ProbeReport({str(c): question.low + draws.below(span) for c in question.choices})
        if question.scale is not None:  # a number is drawn; uniform odds over a hundred add nothing
            return ProbeReport(turn.draws.pick(question.choices))
        even = (1 / len(question.choices),) * len(question.choices)
        return ProbeReport(turn.draws.pick(question.choices), even)


class Constant(msgspec.Struct, frozen=True):
    """A player that always picks the same position, modulo the length of the menu or of a probe's
    choices."""

    place: int = 0

    def decide(self, turn: Turn) -> Decision[Any]:
        menu = ready(turn, "constant")
        return Decision(menu[self.place % len(menu)])

    def report(self, turn: Turn) -> ProbeReport:
        question = question_of(turn)
        if question.kind == "values":
            return ProbeReport({str(c): question.low for c in question.choices})
        return report_choice(question, question.choices[self.place % len(question.choices)])


class CopyLast(msgspec.Struct, frozen=True):
    """A player that copies the other's last move and expects it again; its first move is random."""

    def decide(self, turn: Turn) -> Decision[Any]:
        return Decision(_one_of(ready(turn, "copy_last"), self._last(turn), turn))

    def report(self, turn: Turn) -> ProbeReport | NoAnswer:
        question = question_of(turn)
        if question.kind == "values":
            return NoAnswer("what the other did last is no value")
        return report_choice(question, _one_of(question.choices, self._last(turn), turn))

    def _last(self, turn: Turn) -> list[Any]:
        return [other_move for _, other_move in turn.view.played()[-1:]]


class Majority(msgspec.Struct, frozen=True):
    """A player that makes and expects the other's most frequent move; ties are broken at random."""

    def decide(self, turn: Turn) -> Decision[Any]:
        return Decision(_one_of(ready(turn, "majority"), self._most_frequent(turn), turn))

    def report(self, turn: Turn) -> ProbeReport | NoAnswer:
        question = question_of(turn)
        if question.kind == "values":
            return NoAnswer("what the other did most often is no value")
        return report_choice(question, _one_of(question.choices, self._most_frequent(turn), turn))

    def _most_frequent(self, turn: Turn) -> list[Any]:
        counts = Counter(other_move for _, other_move in turn.view.played())
        return [move for move, n in counts.items() if n == max(counts.values())]


def _answer_of(player: Player, turn: Turn, name: str) -> Any:
    """Return the answer of the player that another one, called `name`, is made from."""
    answer = send_ask(turn, player)
    if isawaitable(answer):
        raise BadInput(f"`{name}` needs a player that answers synchronously; this one does not.")
    return as_answer(turn, answer)


class Inverse(msgspec.Struct, frozen=True):
    """A player that picks uniformly among the options that another player would not take."""

    of: Player

    def decide(self, turn: Turn) -> Any:
        move = _answer_of(self.of, turn, "inverse")
        if not isinstance(move, Decision):
            return move
        action = self._but(move.action, ready(turn, "inverse"), turn)
        return Decision(action, move.memory)

    def report(self, turn: Turn) -> ProbeReport | NoAnswer:
        question = question_of(turn)
        report_below = _answer_of(self.of, turn, "inverse")
        if not isinstance(report_below, ProbeReport) or report_below.value is None:
            return NoAnswer("the player that is turned around takes no such question")
        if isinstance(report_below.value, dict):
            ends = question.low + question.high
            return ProbeReport({item: ends - value for item, value in report_below.value.items()})
        return report_choice(question, self._but(report_below.value, question.choices, turn))

    def _but(self, avoided: Any, items: Sequence[Any], turn: Turn) -> Any:
        others = [item for item in items if item != avoided]
        # a separate stream: the inverted player has drawn from the turn's
        return Stream(turn.context.seed, *turn.id, "inverse").pick(others or items)


class Noisy(msgspec.Struct, frozen=True):
    """A player of graded skill: like another player, but random with probability `error`."""

    of: Player
    error: float

    def decide(self, turn: Turn) -> Any:
        move = _answer_of(self.of, turn, "noisy")
        draws = self._draws(turn)
        if not isinstance(move, Decision) or draws() >= self.error:
            return move
        return Decision(example(turn.options, draws), move.memory)

    def report(self, turn: Turn) -> ProbeReport | NoAnswer:
        report_below = _answer_of(self.of, turn, "noisy")
        if not isinstance(report_below, ProbeReport) or report_below.value is None:
            return NoAnswer("the player underneath takes no such question")
        draws, question = self._draws(turn), question_of(turn)
        if question.kind == "values" or draws() >= self.error:
            return report_below
        return report_choice(question, draws.pick(question.choices))

    def _draws(self, turn: Turn) -> Stream:
        # a separate stream: the player underneath has drawn from the turn's
        return Stream(turn.context.seed, *turn.id, "noisy")


# --- what they share ------------------------------------------------------------------------------


def ready(turn: Turn, player: str) -> tuple[Any, ...]:
    """Return the menu; raises BadInput if it has forms to fill in."""
    if not is_finite(turn.options):
        raise BadInput(
            f"`{player}` needs a finite menu, but seat {turn.seat!r} has to fill in a form in this "
            "turn."
        )
    return turn.options


def question_of(turn: Turn) -> Question:
    assert turn.question is not None  # a report is asked for with a question only
    return turn.question


def report_choice(question: Question, value: int | str) -> ProbeReport:
    """Return a report of one choice, with probability 1 if the question asks for odds."""
    if question.kind != "odds":
        return ProbeReport(value)
    return ProbeReport(value, tuple(float(choice == value) for choice in question.choices))


def _one_of(items: Sequence[Any], preferred: list[Any], turn: Turn) -> Any:
    """Return a random item that is both wanted and available, or else any available item."""
    available = [item for item in items if item in preferred]
    return turn.draws.pick(available or items)


# --- on the shelf ---------------------------------------------------------------------------------

Spec = GameSpec
Rules = Game


def _random(spec: Spec, game: Rules, seat: Seat) -> Random:
    return Random()


def _constant(spec: Spec, game: Rules, seat: Seat, place: int = 0) -> Constant:
    if type(place) is not int:
        raise BadInput(f"place must be a whole number, not {place!r}")
    return Constant(place)


def _copy_last(spec: Spec, game: Rules, seat: Seat) -> CopyLast:
    _require_rounds("copy_last", spec, game, seat)
    return CopyLast()


def _majority(spec: Spec, game: Rules, seat: Seat) -> Majority:
    _require_rounds("majority", spec, game, seat)
    return Majority()


def _require_rounds(player: str, spec: Spec, game: Rules, seat: Seat) -> None:
    if not hasattr(game.observe(game.start(), seat), "played"):
        raise BadInput(
            f"`{player}` needs a game of repeated rounds in which both players choose from the "
            f"same kind of moves; {spec.name} is not one"
        )


def _inverse(
    spec: Spec,
    game: Rules,
    seat: Seat,
    of: str = "constant",
    params: Mapping[str, Any] | None = None,
) -> Inverse:
    return Inverse(_underneath(spec, game, seat, "player to invert", of, params))


def _noisy(
    spec: Spec,
    game: Rules,
    seat: Seat,
    of: str = "constant",
    params: Mapping[str, Any] | None = None,
    error: float = 0.5,
) -> Noisy:
    if not 0 <= error <= 1:
        raise BadInput(f"error must be from 0 to 1, not {error}.")
    return Noisy(_underneath(spec, game, seat, "player to add errors to", of, params), error)


def _underneath(
    spec: Spec, game: Rules, seat: Seat, kind_name: str, of: str, params: Mapping[str, Any] | None
) -> Player:
    """Return the player or partner called `of`, on which another player is based."""
    if not isinstance(params, Mapping | None):
        raise BadInput(f"params must be a table of names and values, not {params!r}")
    arguments = dict(params or {})
    partner = registry.partners(spec.family or spec.name).get(of)
    if partner is not None:
        answers = partner.answers and partner.answers(game, seat, **arguments)
        return Scripted(partner.make(game, seat, **arguments), answers)
    kinds = registry.players(spec.family or spec.name)
    kind: PlayerKind = registry.pick(kind_name, of, kinds)
    player: Player = kind.make(spec, game, seat, **arguments)
    return player


PLAYERS = by_name(
    PlayerKind("random", "any legal move, each as likely as any other", _random),
    PlayerKind("constant", "the same place on the menu every time", _constant, {"place": 0}),
    PlayerKind("copy_last", "what the other did last", _copy_last),
    PlayerKind("majority", "what the other did most often", _majority),
    PlayerKind(
        "inverse",
        "anything but what another player (`of`, with its `params`) would do",
        _inverse,
        {"of": "constant", "params": None},
    ),
    PlayerKind(
        "noisy",
        "another player (`of`, with its `params`), with a share `error` of its moves and "
        "answers drawn at random",
        _noisy,
        {"of": "constant", "params": None, "error": 0.5},
    ),
)
