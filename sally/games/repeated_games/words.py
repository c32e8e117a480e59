"""Repeated matrix games in language: sentences of our own, in the order used in the prompts of
riemer2025."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import product
from typing import ClassVar

from sally.core.errors import join_names
from sally.core.log.events import Told
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options
from sally.core.rules.probe import Question
from sally.core.rules.words import Words, read_texts
from sally.games.repeated_games.rules import AGENT, PARTNER, Joint, RepeatedGame, View, other_seat

TEXTS: Mapping[str, str] = read_texts(__package__)


# People see the payoffs as a table beside the rules, so the rules need not list every outcome.


class RepeatedWords(Words[int, View]):
    forms: ClassVar[tuple[str, ...]] = ("agent_first", "partner_first")

    def __init__(self, game: RepeatedGame, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self.game: RepeatedGame = game
        self._style = "signed" if game.signed else "points"
        self._names = {seat: self.relabel(game.names_of(seat)) for seat in (AGENT, PARTNER)}
        self._rounds: dict[tuple[str, Seat], Mapping[Joint | None, list[str]]] = {}

    def names_by_seat(self) -> Mapping[Seat, tuple[str, ...]]:
        """Return the names of each seat's moves in the prompts."""
        return self._names

    def rules(self, seat: Seat) -> str:
        own_names, other_names = self._names[seat], self._names[other_seat(seat)]
        cells = [
            self.say(
                f"cell.{self._style}",
                mine=own_names[i],
                theirs=other_names[j],
                **self._pays(seat, i, j),
            )
            for i in self._order(seat)
            for j in self._order(other_seat(seat))
        ]
        return "\n".join([self.rules_without_payoffs(seat), *cells])

    def rules_without_payoffs(self, seat: Seat) -> str:
        own_options, other_options = self._options(seat), self._options(other_seat(seat))
        intro = self.say(
            "intro.same" if own_options == other_options else "intro",
            rounds=self.game.rounds,
            mine=own_options,
            theirs=other_options,
        )
        stop = self.game.stop_chance
        ends = self.say("intro.stop", percent=f"{100 * stop:g}") if stop else ""
        parts = (intro, self.say(f"aim.{self._style}"), ends)
        return " ".join(part for part in parts if part)

    def examples(self, seat: Seat) -> tuple[str, ...]:
        them = other_seat(seat)
        moves = self.game.moves_of(them)
        last = self.game.moves_of(seat)[-1]
        answer = self.game.best_replies(them, last)[0]
        kinds_and_moves = (("habit", moves[0]), ("aims", answer), ("surprise", moves[0]))
        return tuple(
            self._example(kind, seat, other_move, last) for kind, other_move in kinds_and_moves
        )

    def _example(self, kind: str, seat: Seat, other_move: int, last: int) -> str:
        own_move = self.game.best_replies(seat, other_move)[0]
        names = self._names[seat]
        return self.say(
            f"example.{kind}",
            mine=names[own_move],
            theirs=self._names[other_seat(seat)][other_move],
            last=names[last],
            gain=self.say(f"gain.{self._style}", **self._pays(seat, own_move, other_move)),
        )

    def lines(self, view: View, since: int, form: str) -> list[str]:
        lines_by_joint = self._rounds.get((form, view.seat)) or self._round_lines(form, view.seat)
        if view.round == since + 2 and view.past.last is not None:  # one more, as most often
            return [str(since + 1).join(lines_by_joint[view.last])]
        news = enumerate(view.rounds(since), since + 1)
        return [str(number).join(lines_by_joint[joint]) for number, joint in news]

    def now(self, view: View) -> str:
        return str(view.round).join(self._now)

    def question(self, view: View, options: Options[int]) -> str:
        return self._questions[view.seat]

    def best_question(self, view: View, options: Options[int]) -> str:
        return self._best_questions[view.seat]

    def format(self, view: View, options: Options[int]) -> str:
        return self._formats[view.seat]

    def name(self, action: int | str) -> str:
        return self._names[self.seat or AGENT][int(action)]

    def menu(self, options: Options[int]) -> tuple[str, ...]:
        seat = self.seat or AGENT
        is_whole_menu = options == self.game.moves_of(seat)
        return self._names[seat] if is_whole_menu else super().menu(options)

    def positions(self, options: Options[int]) -> tuple[int, ...]:
        order = self._order(self.seat or AGENT)
        return tuple(order.index(move) for move in options)

    def stem(self, view: View, options: Options[int]) -> str:
        return self.say("stem.move", now=self.now(view), question=self.question(view, options))

    def aside(self, question: Question, view: View, pending: int | None = None) -> str:
        if question.kind == "odds":
            return self.say("aside.odds")
        names = self._options(other_seat(view.seat))
        if pending is None:
            return self.say("aside.before", names=names)
        own_name = self._names[view.seat][pending]
        return self.say("aside.after", names=names, mine=own_name)

    def aside_stem(self, question: Question, view: View, pending: int | None = None) -> str:
        if pending is None:
            return self.say("stem.partner_first", round=view.round)
        own_name = self._names[view.seat][pending]
        return self.say("stem.agent_first", round=view.round, mine=own_name)

    def choice_name(self, question: Question, choice: int | str) -> str:
        return self._names[Seat(question.about)][int(choice)]

    def told(self, injected: Told, question: Question | None = None) -> str:
        assert isinstance(injected.value, int)
        value = self._names[Seat(injected.about)][injected.value]
        return self.say(f"told.{injected.source}", value=value)

    def state_in_history(self, injected: Told, view: View) -> str:
        return self.say("kept", round=view.round, told=self.told(injected))

    def aside_format(self, question: Question) -> str:
        names = self._list_names(Seat(question.about))
        if question.kind == "odds":
            return self.say("format.odds", names=join_names(names, "and"))
        return self.say("format.option", names=join_names(names, "or"))

    # Sentences that are said at every turn are made once.

    def _round_lines(self, form: str, seat: Seat) -> Mapping[Joint | None, list[str]]:
        """Return the history line for each pair of moves, split where the round number is
        inserted."""
        mine_of, theirs_of = self._names[seat], self._names[other_seat(seat)]
        lines_by_joint: dict[Joint | None, list[str]] = {None: self.around("past.void", "round")}
        for own_move, other_move in product(range(len(mine_of)), range(len(theirs_of))):
            outcome = self.say(f"outcome.{self._style}", **self._pays(seat, own_move, other_move))
            facts = {"mine": mine_of[own_move], "theirs": theirs_of[other_move], "outcome": outcome}
            lines_by_joint[own_move, other_move] = self.around(f"past.{form}", "round", **facts)
        self._rounds[form, seat] = lines_by_joint
        return lines_by_joint

    @cached_property
    def _now(self) -> list[str]:
        return self.around("now", "round")

    @cached_property
    def _questions(self) -> Mapping[Seat, str]:
        return {s: self.say("question", names=self._options(s)) for s in (AGENT, PARTNER)}

    @cached_property
    def _best_questions(self) -> Mapping[Seat, str]:
        return {s: self.say("question.best", names=self._options(s)) for s in (AGENT, PARTNER)}

    @cached_property
    def _formats(self) -> Mapping[Seat, str]:
        return {
            seat: self.say(
                "format.option", names=join_names(self._list_names(seat), self.say("or"))
            )
            for seat in (AGENT, PARTNER)
        }

    def _order(self, seat: Seat) -> tuple[int, ...]:
        """Return a seat's moves in the order in which the prompt lists them."""
        moves = self.game.moves_of(seat)
        own_order = self.game.order if len(self.game.order) == len(moves) else moves
        return tuple(self.listing(own_order))

    def _list_names(self, seat: Seat) -> list[str]:
        return [self._names[seat][move] for move in self._order(seat)]

    def _options(self, seat: Seat) -> str:
        names = [self.say("option", name=name) for name in self._list_names(seat)]
        return join_names(names, self.say("or"))

    def _pays(self, seat: Seat, own_move: int, other_move: int) -> Mapping[str, str]:
        sign = "+g" if self.game.signed else "g"
        my_pay = self.game.pay(seat, own_move, other_move)
        their_pay = self.game.pay(other_seat(seat), other_move, own_move)
        return {"my_pay": _number(my_pay, sign), "their_pay": _number(their_pay, sign)}


def _number(pay: float, sign: str) -> str:
    return format(pay, sign) if pay else "0"
