"""The words of TradeCraft: the sentences of its prompts, in the order in which a turn uses them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from sally.core.errors import IllegalMove, Unreadable, join_names
from sally.core.log.events import Told
from sally.core.reply.plain_text import after_label
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, fill_form, is_finite
from sally.core.rules.probe import ProbeReport, Question
from sally.core.rules.words import Words, as_tuples, only_object, read_texts
from sally.games.tradecraft.actions import (
    LONGEST,
    Action,
    Answer,
    Craft,
    Done,
    Pass,
    Propose,
)
from sally.games.tradecraft.hands import Hand, union
from sally.games.tradecraft.replies import tidy_reply, values_in_json
from sally.games.tradecraft.rules import Entry, TradeCraft, View
from sally.games.tradecraft.speech import (
    goods_said,
    item_meant,
    item_said,
)
from sally.games.tradecraft.tools import within_reach

_CODED = re.compile(r"(?<=[a-z0-9])_(?=[a-z0-9])")  # within the name of an item

# A name and its percentage; before the last one there may be an "and".
_SHARE = re.compile(r"(?:\band\s+)?([A-Za-z][\w' -]*?)[^\w-]{1,6}(\d+(?:\.\d+)?)\s*%?")

TEXTS: Mapping[str, str] = read_texts(__package__)

# People search the recipes on the board and look up what is worth how much as fuel.
PEOPLE: Mapping[str, str] = {
    "intro": "In short: be the first to hold your target, {target}. What you lack you get by "
    "trading with {others}; then you craft the target from what you hold.\n" + TEXTS["intro"],
    "rules.fuel": "Some recipes need fuel as well. The book says how much; the fuel is part of "
    "the inputs, and different fuels may be mixed. What an item is worth as fuel is told under "
    "Look up: what an item is for.",
    "rules.book": "All recipes that can come to matter are in the book beside the table, under "
    "Recipes. Search it by name, or press an item to see what it is for. "
    '"any 2 planks" names a group of items: any of them, mixed as you like, may fill the place.',
    "rules.tags": "",
    "question.propose": "You may propose a trade. To whom, what do you give, and what do you get?",
    "name.pass": "Propose no trade",
    "field.item_info": "what an item is for",
    "field.possible_recipes": "what can be crafted now",
    "field.propose": "propose a trade",
    "field.craft": "craft something else",
}


class TradeWords(Words[Action, View]):
    """Texts of TradeCraft for one seat."""

    game: TradeCraft

    # --- the page -----------------------------------------------------------------------------

    def rules(self, seat: Seat) -> str:
        game = self.game
        n, turns = game.number[seat], game.max_turns
        others = join_names(other_seat for other_seat in game.seats if other_seat != seat)
        two = len(game.seats) == 2
        start = [Hand(hand) for hand in game.hands]
        hands = " ".join(self._holdings(start, seat))
        order = [game.proposer(turn) for turn in range(1, len(game.seats) + 1)]
        parts = [
            self.say("intro", seat=seat, others=others, target=goods_said(game.goals[n])),
            self.say(
                "rules.turn",
                turns=turns,
                order=join_names(order),
            ),
            self.say("rules.rejected.two" if two else "rules.rejected"),
            self.say("rules.craft"),
            self.say("rules.end", turns=turns),
        ]
        if game.priming != "none":
            parts.append(self.say(f"rules.{game.priming}"))
        text = "\n".join([" ".join(parts[:1]), " ".join(parts[1:3]), *parts[3:]])
        return "\n".join([text, *self._book(), self.say("rules.start", hands=hands)])

    def _book(self) -> Iterator[str]:
        """Yield the recipes that can be reached from the goods in play, with their fuels and
        tags."""
        if not self.game.book:
            yield self.say("rules.look_up")
            return
        rules, table = self.game.rules, frozenset(union(self.game.hands))
        book = within_reach(rules, table)
        if book.fuels:
            yield self.say("rules.fuel", fuels=book.fuels)
        lines = [
            self.say("recipe.fuel" if cost else "recipe", recipe=text, fuel=cost)
            for text, cost in book.lines
        ]
        yield self.say("rules.book", recipes="\n".join(self.listing(lines)))
        if book.tags:
            yield self.say("rules.tags", tags=book.tags)

    def lines(self, view: View, since: int, form: str) -> Iterable[str]:
        for entry in view.story.since(since):
            yield self._line(entry, view.seat)

    def _line(self, entry: Entry, seat: Seat) -> str:
        if entry.kind == "revealed":
            names = join_names("You" if winner == seat else winner for winner in entry.winners)
            won = self.say("winners", names=names) if entry.winners else ""
            hands = " ".join(self._holdings(entry.hands, seat))
            return self.say("past.revealed", turn=entry.turn, hands=hands, winners=won)
        if entry.craft is not None:
            product, inputs = (
                goods_said({entry.craft.output: entry.craft.amount}),
                entry.craft.inputs,
            )
            return self.say(
                f"past.{entry.kind}",
                turn=entry.turn,
                made=product,
                inputs=goods_said(inputs),
                text=entry.text,
            )
        proposal = entry.proposal or Propose("", (), ())
        key = f"past.{entry.kind}"
        if entry.who == seat and entry.kind in ("proposed", "passed", "accepted", "rejected"):
            key += ".mine"
        elif entry.kind in ("accepted", "rejected") and entry.who == proposal.to and proposal.to:
            key += ".yours"
        return self.say(
            key,
            turn=entry.turn,
            who=entry.who,
            to=proposal.to,
            offer=goods_said(proposal.offer),
            request=goods_said(proposal.request),
            said=self._quote_message(proposal.message if entry.kind == "proposed" else entry.text),
            text=entry.text,
        )

    def _quote_message(self, text: str) -> str:
        # A message stays on its line: it must not be able to forge another.
        return self.say("said", text=json.dumps(text, ensure_ascii=False)) if text.strip() else ""

    def _saying(self, done: str, message: str) -> str:
        """Return the description of an action with its message."""
        return f"{done}.{message_text}" if (message_text := self._quote_message(message)) else done

    def _holdings(self, hands: Iterable[Hand], seat: Seat) -> Iterator[str]:
        for holder, hand in self.listing(zip(self.game.seats, hands, strict=True)):
            key = "holds.you" if holder == seat else "holds"
            yield self.say(key, seat=holder, goods=goods_said(hand))

    def now(self, view: View) -> str:
        situation = self.say(
            "now",
            turn=view.turn,
            turns=self.game.max_turns,
            hands=" ".join(self._holdings(view.hands, view.seat)),
            target=goods_said(view.target),
        )
        proposal = view.proposal
        if proposal is None or proposal.to != view.seat:
            return situation
        offered = self.say(
            "now.proposed",
            who=view.proposer,
            offer=goods_said(proposal.offer),
            request=goods_said(proposal.request),
            said=self._quote_message(proposal.message),
        )
        return f"{situation}\n{offered}"

    def question(self, view: View, options: Options[Action]) -> str:
        return self.say(f"question.{view.phase}")

    def format(self, view: View, options: Options[Action]) -> str:
        if view.phase != "craft":
            to = next(seat for seat in self.game.seats if seat != view.seat)
            return self.say(f"format.{view.phase}", to=to, longest=LONGEST)
        crafts = self.listing(self.name(o) for o in options if type(o) is Craft)
        now = self.say("format.craft.now", crafts="; ".join(crafts)) if crafts else ""
        now = now or self.say("format.craft.none")
        return f"{self.say('format.craft')} {now}" if self.game.book else self.say("format.craft")

    def name(self, action: Any) -> str:
        match action:
            case Pass():
                return self.say("name.pass")
            case Done():
                return self.say("name.done")
            case Answer(answer, message):
                return self._saying(self.say(f"name.{answer}"), message)
            case Craft(inputs, output, amount):
                product = goods_said([(output, amount)])
                return self.say("name.craft", made=product, inputs=goods_said(inputs))
            case Propose(to, offer, request, message):
                lots = {"offer": goods_said(offer), "request": goods_said(request)}
                return self._saying(self.say("name.propose", to=to, **lots), message)
        return str(action)

    def read(self, reply: str, view: View, options: Options[Action]) -> Action:
        menu: Options[Any] = options
        if is_finite(menu) and "{" not in reply:  # an empty hand leaves nothing but to stop
            return super().read(reply, view, options)
        json_object = only_object(reply)
        try:
            plain = as_tuples(tidy_reply(json_object, self.game.rules.item_set, self.game.seats))
            action: Action = fill_form(menu, plain)
        except (IllegalMove, RecursionError) as error:
            raise Unreadable(_CODED.sub(" ", str(error))) from None
        return action

    def refusal(self, view: View, action: Any) -> str:
        if isinstance(action, Craft):
            result = self.game.crafting(view.hand, action)
            return result if isinstance(result, str) else ""
        if isinstance(action, Propose):
            return self.game.problem(view.hands, view.number, action) or ""
        return ""

    # --- probes -------------------------------------------------------------------------------

    def aside(self, question: Question, view: View, pending: Action | None = None) -> str:
        return self.say(f"aside.{question.probe}", about=question.about)

    def choice_name(self, question: Question, choice: int | str) -> str:
        return item_said(str(choice))

    def aside_format(self, question: Question) -> str:
        if question.kind != "odds":
            return super().aside_format(question)
        names = self._or([item_said(str(choice)) for choice in question.choices])
        return self.say("format.their_target", names=names)

    def read_report(self, reply: str, question: Question) -> ProbeReport:
        if question.kind == "values":
            items = [str(choice) for choice in question.choices]
            values = values_in_json(reply, items, question.low, question.high)
            if values:
                return ProbeReport(values, reply=reply)
            plain_reply = _CODED.sub(" ", reply)  # oak_planks will do, too
            return msgspec.structs.replace(super().read_report(plain_reply, question), reply=reply)
        if question.kind != "odds":
            return super().read_report(reply, question)
        odds = _odds(reply, [str(choice) for choice in question.choices])
        best = max(range(len(odds)), key=odds.__getitem__)
        return ProbeReport(question.choices[best], odds, reply=reply)

    def told(self, injected: Told, question: Question | None = None) -> str:
        value = injected.value
        if isinstance(value, dict):
            value = join_names(
                f"{item_said(item)} {item_value:g}" for item, item_value in value.items()
            )
        elif isinstance(value, str):
            value = item_said(value)
        return self.say(
            f"told.{injected.source}.{injected.probe}", about=injected.about, value=value
        )

    def state_in_history(self, injected: Told, view: View) -> str:
        return self.say("kept", turn=view.turn, told=self.told(injected))


def _odds(reply: str, names: list[str]) -> tuple[float, ...]:
    """Read percentages by name; missing ones are 0, and they must sum to 100."""
    stated = after_label(reply, "Odds")
    if stated is None:
        raise Unreadable("Answer with one line that starts with `Odds:`.")
    percentages: dict[str, float] = {}
    for written_name, percent in _SHARE.findall(stated):
        name = item_meant(written_name.strip(), frozenset(names))
        if name in percentages:
            raise Unreadable(f"{item_said(name)} is named more than once; give it one percentage.")
        percentages[name] = float(percent)
    odds = [percentages.get(name, 0.0) for name in names]
    total = sum(odds)
    if not 99 <= total <= 101:
        raise Unreadable(f"The percentages after `Odds:` sum to {total:g}, not to 100.")
    return tuple(p / total for p in odds)
