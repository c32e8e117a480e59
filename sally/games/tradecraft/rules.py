"""The rules of TradeCraft: propose, decide, craft in secret, reveal; a player who then holds its
target wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import Game, Seat
from sally.core.rules.history import History
from sally.core.rules.menu import Options
from sally.games.tradecraft.actions import (
    ACCEPT,
    ANSWERS,
    DONE,
    NO,
    SEATS,
    Action,
    Answer,
    Craft,
    Propose,
    craft_menu,
    goods,
    proposal_menu,
)
from sally.games.tradecraft.amounts import MOST, BadAmount
from sally.games.tradecraft.crafting import CraftSuccess, craft
from sally.games.tradecraft.hands import Hand, holds, lacking, round_down, trade_hands
from sally.games.tradecraft.parameters import ruleset_of
from sally.games.tradecraft.rulesets import Ruleset
from sally.games.tradecraft.speech import item_meant

_OUT_OF_PATIENCE = 1 << 30  # more refusals than any setup allows
PROPOSING, DECIDING, CRAFTING, OVER = "propose", "decide", "craft", "over"


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One entry of a seat's history: an event that the seat saw or an action of its own."""

    kind: str
    turn: int
    who: str = ""
    proposal: Propose | None = None
    text: str = ""  # a message, or the reason for a refusal
    craft: Craft | None = None
    hands: tuple[Hand, ...] = ()
    winners: tuple[Seat, ...] = ()
    waited: bool = False  # whether this seat finished before the last one


Story = History[Entry]


class State(msgspec.Struct, frozen=True, gc=False):
    """The full state; every seat has its own history, so that a view can be made without
    copying."""

    hands: tuple[Hand, ...]
    shown: tuple[Hand, ...]  # the hands as all seats know them
    stories: tuple[Story, ...]
    phase: str = PROPOSING
    turn: int = 1
    movers: tuple[Seat, ...] = ()
    proposal: Propose | None = None
    refused: tuple[int, ...] = ()  # in a row, by seat
    crafts: tuple[int, ...] = ()  # in this phase, by seat
    winners: tuple[Seat, ...] = ()


class View(msgspec.Struct, frozen=True, gc=False):
    """The information of one seat."""

    seat: Seat
    number: int  # index of the seat
    phase: str
    turn: int
    proposer: Seat
    hands: tuple[Hand, ...]  # its own as it is; the others' as all seats know them
    target: Hand
    story: Story
    proposal: Propose | None  # made by or to this seat, and not yet answered
    rules: Ruleset

    @property
    def hand(self) -> Hand:
        """The seat's own hand."""
        return self.hands[self.number]

    @property
    def items(self) -> tuple[str, ...]:
        """Every item in any hand, sorted."""
        return tuple(sorted({item for hand in self.hands for item in hand.goods}))


@dataclass(frozen=True)
class TradeCraft(Game[State, Action, View]):
    """The TradeCraft game for two to six players: hands are public, targets private."""

    ruleset: str = "minecraft_core"  # shipped, "invented", or the path of a ruleset
    settings: dict[str, Any] = field(default_factory=dict)  # of the invented ruleset
    hands: tuple[dict[str, int], ...] = (
        {"birch_planks": 1, "coal": 2, "iron_ingot": 1, "sand": 2},
        {"cobblestone": 2, "oak_planks": 2, "raw_iron": 3},
    )
    targets: tuple[dict[str, int], ...] = ({"shears": 1}, {"torch": 1})
    max_turns: int = 15
    most_crafts: int = 50  # per player and phase: some crafts can be undone for ever
    book: bool = True  # whether the page prints the recipes within reach, as a substitute for tools
    extra: tuple[str, ...] = ()  # items that hands may hold although the ruleset lacks them
    priming: Literal["none", "cooperative", "competitive"] = "none"  # what players are told to want
    first: int = 0  # the seat that proposes in the first turn
    most_refused: int | None = None  # consecutive refusals; None: the number of retries

    def __post_init__(self) -> None:
        for name in ("hands", "targets"):  # minecraft:coal is coal, where the ruleset has it so
            lots = getattr(self, name)
            if any(":" in item or " " in item for lot in lots for item in lot):
                item_names = self.rules.item_set
                bare = tuple({item_meant(i, item_names): n for i, n in lot.items()} for lot in lots)
                object.__setattr__(self, name, bare)
        self._check()

    def _check(self) -> None:
        """Raise BadInput if the parameters are not valid."""
        players = len(self.hands)
        if not 2 <= players <= len(SEATS):
            raise BadInput(f"tradecraft has 2 to {len(SEATS)} players, not {players} hands.")
        if len(self.targets) != players:
            raise BadInput(
                f"{players} hands and {len(self.targets)} targets were given; "
                "every player needs one of each."
            )
        if self.max_turns < 1 or self.most_crafts < 1:
            raise BadInput("max_turns and most_crafts must be at least 1.")
        if not 0 <= self.first < players:
            raise BadInput(f"first must be from 0 to {players - 1}, not {self.first}.")
        if self.most_refused is not None and self.most_refused < 0:
            raise BadInput(f"most_refused must be at least 0, not {self.most_refused}.")
        rules = self.rules
        for name, lots in (("hands", self.hands), ("targets", self.targets)):
            for seat, lot in zip(self.seats, lots, strict=True):
                for item, amount in lot.items():
                    if (problem := rules.unknown(item)) is not None:
                        raise BadInput(f"{name} of {seat}: {problem}")
                    if not 1 <= amount <= MOST:
                        raise BadInput(
                            f"{name} of {seat}: {amount} {item} is not from 1 to {MOST}."
                        )
        for seat, target in zip(self.seats, self.targets, strict=True):
            if not target:
                raise BadInput(f"targets of {seat}: a target must name at least one item.")

    @cached_property
    def seats(self) -> tuple[Seat, ...]:  # type: ignore[override]
        return SEATS[: len(self.hands)]

    @cached_property
    def rules(self) -> Ruleset:
        """The ruleset; BadInput is raised if it cannot be read."""
        settings = msgspec.json.encode(self.settings, order="sorted")
        try:
            ruleset = ruleset_of(self.ruleset, settings)
        except (TypeError, ValueError) as problem:
            raise BadInput(f"ruleset: {problem}") from None
        return (
            replace(ruleset, tags={**ruleset.tags, "extra": self.extra}) if self.extra else ruleset
        )

    @cached_property
    def goals(self) -> tuple[Hand, ...]:
        """The targets by seat."""
        return tuple(Hand(target) for target in self.targets)

    @cached_property
    def number(self) -> Mapping[str, int]:
        """Return the index of each seat."""
        return {seat: n for n, seat in enumerate(self.seats)}

    @cached_property
    def _zeros(self) -> tuple[int, ...]:
        return (0,) * len(self.hands)

    def proposer(self, turn: int) -> Seat:
        """Return the seat that proposes in a turn."""
        return self.seats[(turn - 1 + self.first) % len(self.seats)]

    # --- turn order -----------------------------------------------------------------------------

    def start(self) -> State:
        hands = tuple(Hand(hand) for hand in self.hands)
        begun = State(hands, hands, tuple(History() for _ in hands), OVER)
        winners = self._winners(hands)
        return _with(begun, winners=winners) if winners else self._proposing(begun)

    def to_move(self, state: State) -> tuple[Seat, ...]:
        return state.movers

    def options(self, state: State, seat: Seat) -> Options[Action]:
        if state.phase == DECIDING:
            return ANSWERS
        number = self.number[seat]
        if state.phase == CRAFTING:
            return craft_menu(self.rules, state.hands[number])
        return proposal_menu(state.hands, number)

    def step(self, state: State, moves: Mapping[Seat, Action]) -> State:
        if state.phase == CRAFTING:
            return self._apply_crafts(state, moves)
        ((seat, action),) = moves.items()
        if type(action) is Answer:
            return self._apply_answer(state, action)
        if type(action) is Propose:
            return self._apply_proposal(state, self.number[seat], action)
        return self._apply_pass(state, Propose("", (), ()))

    def forfeit(
        self, state: State, moves: Mapping[Seat, Action], forfeited: tuple[Seat, ...]
    ) -> State:
        """Treat a missing proposal as a pass, a missing answer as a rejection, and a missing craft
        as done."""
        if state.phase == CRAFTING:
            return self._apply_crafts(state, {**moves, **dict.fromkeys(forfeited, DONE)})
        if state.phase == DECIDING:
            return self._apply_answer(state, NO)
        return self._apply_pass(state, Propose("", (), ()))

    def rejections(self, state: State, seat: Seat) -> int:
        refused = state.refused[self.number[seat]]
        if self.most_refused is None:
            return refused
        return _OUT_OF_PATIENCE if refused > self.most_refused else 0

    def begins_turn(self, state: State) -> bool:
        return state.phase == PROPOSING and not any(state.refused)

    def observe(self, state: State, seat: Seat) -> View:
        n = self.number[seat]
        hands, phase, proposal = state.shown, state.phase, state.proposal
        if phase == CRAFTING and state.hands[n] is not hands[n]:
            hands = (*hands[:n], state.hands[n], *hands[n + 1 :])
        proposer = self.proposer(state.turn)
        if proposal is not None and seat != proposer and seat != proposal.to:
            phase, proposal = PROPOSING, None  # a third player learns of it when it is answered
        return View(
            seat,
            n,
            phase,
            state.turn,
            proposer,
            hands,
            self.goals[n],
            state.stories[n],
            proposal,
            self.rules,
        )

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        """Return the payoffs: 3 for a sole winner, 1 for each of several winners, 0 for all
        others."""
        prize = 3.0 if len(state.winners) == 1 else 1.0
        return {seat: prize if seat in state.winners else 0.0 for seat in self.seats}

    # --- the three phases -----------------------------------------------------------------------

    def _proposing(self, state: State) -> State:
        proposer = self.proposer(state.turn)
        zeros = self._zeros
        return State(
            state.hands, state.shown, state.stories, PROPOSING, state.turn, (proposer,), None, zeros
        )

    def _apply_proposal(self, state: State, n: int, proposal: Propose) -> State:
        problem = self.problem(state.hands, n, proposal)
        if problem is not None:
            entry = Entry("refused", state.turn, self.seats[n], proposal, problem)
            return _with(
                state,
                stories=_add_entry(state.stories, n, entry),
                refused=_count_one(state.refused, n),
            )
        if not proposal.offer and not proposal.request:
            return self._apply_pass(state, proposal)
        entry = Entry("proposed", state.turn, self.seats[n], proposal)
        stories = _add_entry(state.stories, n, entry)
        stories = _add_entry(stories, self.number[proposal.to], entry)
        return State(
            state.hands,
            state.shown,
            stories,
            DECIDING,
            state.turn,
            (Seat(proposal.to),),
            proposal,
            self._zeros,
        )

    def problem(self, hands: tuple[Hand, ...], n: int, proposal: Propose) -> str | None:
        """Return why a proposal is not valid, or None if it is valid."""
        partner = self.number.get(proposal.to)
        if partner is None or partner == n:
            others = " or ".join(seat for seat in self.seats if seat != self.seats[n])
            return f"{proposal.to!r} is nobody you can trade with; name {others}."
        try:
            offer, request = goods(proposal.offer), goods(proposal.request)
        except BadAmount as error:
            return str(error)
        if (short := lacking(hands[n], offer)) is not None:
            return f"You cannot offer that: {short}."
        if (short := lacking(hands[partner], request)) is not None:
            return f"{proposal.to} cannot give that: {short}."
        return None

    def _apply_pass(self, state: State, proposal: Propose) -> State:
        """Show a pass to all seats; its message reaches only the addressee."""
        proposer = self.proposer(state.turn)
        stories = state.stories
        for n, seat in enumerate(self.seats):
            text = proposal.message if seat in (proposer, proposal.to) else ""
            # the player's own words, to remember
            own_proposal = proposal if proposal.to and seat == proposer else None
            stories = _add_entry(
                stories, n, Entry("passed", state.turn, proposer, own_proposal, text)
            )
        return self._crafting(state.hands, stories, state.turn)

    def _apply_answer(self, state: State, answer: Answer) -> State:
        proposal, turn, hands = state.proposal, state.turn, state.hands
        assert proposal is not None
        p = (turn - 1 + self.first) % len(self.seats)
        q = self.number[proposal.to]
        accepted = answer.answer == ACCEPT
        kind = "accepted" if accepted else "rejected"
        between = Entry(kind, turn, proposal.to, proposal, answer.message)
        stories = _add_entry(_add_entry(state.stories, p, between), q, between)
        if len(hands) > 2:
            open_ = Entry(kind, turn, self.seats[p], _public(proposal) if accepted else None)
            for n in range(len(hands)):
                if n not in (p, q):
                    stories = _add_entry(stories, n, open_)
        if accepted:
            proposer_hand, partner_hand = trade_hands(
                hands[p], hands[q], goods(proposal.offer), goods(proposal.request)
            )
            changed = list(hands)
            changed[p], changed[q] = proposer_hand, partner_hand
            hands = tuple(changed)
        return self._crafting(hands, stories, turn)

    def _crafting(self, hands: tuple[Hand, ...], stories: tuple[Story, ...], turn: int) -> State:
        zeros = self._zeros
        return State(hands, hands, stories, CRAFTING, turn, self.seats, None, zeros, zeros)

    def _apply_crafts(self, state: State, moves: Mapping[Seat, Action]) -> State:
        """Apply one craft, or refuse it with a reason."""
        hands, stories = list(state.hands), list(state.stories)
        refused, crafts = list(state.refused), list(state.crafts)
        busy: list[Seat] = []
        for seat in state.movers:
            n, action = self.number[seat], moves[seat]
            if type(action) is not Craft:
                stories[n] = stories[n].append(Entry("done", state.turn, seat))
                continue
            crafts[n] += 1
            result = self.crafting(hands[n], action)
            if type(result) is Hand:
                hands[n], refused[n] = result, 0
                entry = Entry("crafted", state.turn, seat, craft=action)
            else:
                refused[n] += 1
                entry = Entry("failed", state.turn, seat, None, str(result), action)
            stories[n] = stories[n].append(entry)
            if crafts[n] < self.most_crafts:
                busy.append(seat)
        if not busy:
            return self._end_turn(hands, stories, state.turn, state.movers)
        return State(
            tuple(hands),
            state.shown,
            tuple(stories),
            CRAFTING,
            state.turn,
            tuple(busy),
            None,
            tuple(refused),
            tuple(crafts),
        )

    def crafting(self, hand: Hand, action: Craft) -> Hand | str:
        """Return the hand after a craft, or the reason why it is refused."""
        try:
            inputs = goods(action.inputs)
        except BadAmount as error:
            return str(error)
        output = item_meant(action.output, self.rules.item_set)
        done = craft(self.rules, hand, inputs, output, action.amount)
        return done.hand if type(done) is CraftSuccess else done.reason  # type: ignore[union-attr]

    def _end_turn(
        self, hands: list[Hand], stories: list[Story], turn: int, last: tuple[Seat, ...]
    ) -> State:
        """End a turn: drop fractions, reveal hands, and determine the winners."""
        rounded_hands = tuple([round_down(hand) for hand in hands])
        winners = self._winners(rounded_hands)
        entry = Entry("revealed", turn, hands=rounded_hands, winners=winners)
        if len(last) == len(hands):
            stories_after = tuple([story.append(entry) for story in stories])
        else:
            waited = Entry("revealed", turn, hands=rounded_hands, winners=winners, waited=True)
            seated = zip(self.seats, stories, strict=True)
            stories_after = tuple(
                [story.append(entry if s in last else waited) for s, story in seated]
            )
        if winners or turn >= self.max_turns:
            return State(
                rounded_hands,
                rounded_hands,
                stories_after,
                OVER,
                turn,
                (),
                None,
                self._zeros,
                (),
                winners,
            )
        return self._proposing(State(rounded_hands, rounded_hands, stories_after, OVER, turn + 1))

    def _winners(self, hands: tuple[Hand, ...]) -> tuple[Seat, ...]:
        goals = self.goals
        return tuple([s for n, s in enumerate(self.seats) if holds(hands[n], goals[n])])


# --- small steps ----------------------------------------------------------------------------------


def _with(state: State, **changed: Any) -> State:
    return msgspec.structs.replace(state, **changed)


def _add_entry(stories: tuple[Story, ...], n: int, entry: Entry) -> tuple[Story, ...]:
    return (*stories[:n], stories[n].append(entry), *stories[n + 1 :])


def _count_one(counts: tuple[int, ...], n: int) -> tuple[int, ...]:
    return (*counts[:n], counts[n] + 1, *counts[n + 1 :])


def _public(proposal: Propose) -> Propose:
    """Return the part of an accepted proposal that all seats see: the goods but not the message."""
    return Propose(proposal.to, proposal.offer, proposal.request)
