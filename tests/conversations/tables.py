"""Golden conversations in the games of other papers: one short episode a strategy and game.

A page that begins like an earlier one is written from where it differs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sally.core.errors import BadInput
from sally.core.log.events import Call, Injection, Instance, Moved, PlayerSpec, Reported, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.strategy import Strategy
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    Context,
    Message,
    Reply,
    Scores,
    Settings,
    ToolSpec,
)
from sally.core.registry import registry
from sally.games.tradecraft.problems import problems
from sally.models.stub import Scripted
from sally.papers.tradecraft2026.study import own_reports
from sally.runner.seating import players_of, resolve_setup
from tests.conversations.word_tables import ASKED, SEATS, STRATEGIES, said_at

FOLDER = Path(__file__).parent
FEWEST = 4  # lines that two pages must share before they are said to


@dataclass(frozen=True)
class Table:
    """A seat for a model at a game: who else sits there, what is asked and told, what it says."""

    problem: Instance
    seat: str
    others: Mapping[str, str]
    says: Callable[[str], str]
    asked: tuple[str, ...]  # probes
    told: tuple[Injection, ...]  # if the strategy has to be told something
    kept: tuple[Injection, ...] = ()  # what every strategy is told
    shown: Callable[[int], bool] = lambda turn: True  # the turns that are written down
    with_: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


# --- what a model says ----------------------------------------------------------------------------


def in_the_locker(page: str) -> str:
    """A box or a state in whatever form the page asks for."""
    asked_page = page[page.rfind("\n\n") :]
    if "write a short summary" in asked_page:
        return "Users 0 to 2 stored their items in boxes of their own; there were resets since."
    if "begins with `Plan:`" in asked_page:
        return "Plan: go by what each user has seen."
    choice = "last" if "<choice> is last" in asked_page else "1"
    foreseen = "Predicted Action 1: last\nPredicted Action 2: 1"
    return _parts(asked_page, foreseen, f"Answer: {choice}")


def at_the_trade(page: str) -> str:
    """A gift, a refusal, no craft, and the same value for every item."""
    asked_page = page[page.rfind("\n\n") :]
    if "write a short summary" in asked_page:
        return "Both players still lack parts of their targets."
    if "begins with `Plan:`" in asked_page:
        return "Plan: ask for what the target needs."
    if (listed := re.search(r"for each of (.*), each number", asked_page)) is not None:
        return "\n".join(f"{item}: 5" for item in re.split(r", | and ", listed[1]))
    if '"kind": "propose"' in asked_page:
        return _parts(asked_page, "", '{"kind": "pass"}')
    if '"kind": "answer"' in asked_page:
        return _parts(
            asked_page, "", '{"kind": "answer", "answer": "reject", "message": "Not yet."}'
        )
    return _parts(asked_page, "", '{"kind": "done"}')


def _parts(asked: str, foreseen: str, answer: str) -> str:
    """What a strategy wants before the answer, and the answer."""
    expected_fields = {
        "Thoughts": "Thoughts: it follows from what was seen.",
        "Plans": "Plans: go on as before.",
        "Insights": "Insights: nothing new.",
        "Reasoning": "Reasoning: it follows from what was seen.",
        "Predicted Action": foreseen,
    }
    parts = [text for label, text in expected_fields.items() if text and f"`{label}" in asked]
    if "asked for your own choice afterwards" not in asked:
        parts.append(answer)
    return "\n".join(parts)


# --- the tables -----------------------------------------------------------------------------------


def locker(strategy: Strategy) -> Table:
    """Three users under finite history; in the authors' wording for their own harness."""
    params: dict[str, Any] = {"mode": "finite", "generator": "published", "users": 3, "number": 0}
    if strategy.name == "chat":
        params["wording"] = "published"
    tell = (Injection("manager", "state_last_seen"),)  # type: ignore[arg-type]
    return Table(
        Instance("locker", "pick_the_right_stuff", params),
        "manager",
        {},
        (lambda page: "1") if strategy.name == "chat" else in_the_locker,
        () if strategy.name == "chat" or strategy.name in PREDICTS else ("state_last_seen",),
        tell,
        with_=FEW_SAMPLES,
    )


def trade(strategy: Strategy) -> Table:
    """The second-order arm of tradecraft2026, against a trader that is no model."""
    problem = problems("minecraft_core_2p_2", 1)[0]
    short = Instance("trade", problem.game, {**problem.params, "max_turns": 2})
    probes = ("v0", "v1", "v2")
    return Table(
        short,
        "p1",
        {"p2": "first_order"},
        at_the_trade,
        probes,
        (Injection("p1", "their_target"),),  # type: ignore[arg-type]
        kept=own_reports("p1", probes),
        with_=FEW_SAMPLES,
    )


def word_table(game: str) -> Callable[[Strategy], Table]:
    """A short game of words or numbers against a declared partner."""
    seat, others, params = SEATS[game]
    return lambda strategy: Table(
        Instance(game, game, params),
        seat,
        others,
        lambda page: said_at(game, page),
        ASKED[game],
        (),
    )


FEW_SAMPLES = {"self_consistency": {"n": 2}, "reflexion": {"memory": 2}}
PREDICTS = ("social_qa", "social_lm", "tom_cot", "tom_guide")  # within their decisions
TABLES: Mapping[str, Callable[[Strategy], Table]] = {
    "pick_the_right_stuff": locker,
    "tradecraft": trade,
    **{game: word_table(game) for game in SEATS},
}


# --- playing --------------------------------------------------------------------------------------


class Recorder(Scripted):
    """A scripted model that remembers what it was shown."""

    def __init__(self, says: Callable[[str], str]) -> None:
        super().__init__(
            lambda messages, _: says(f"\n\n{messages[-1].text}"),
            lambda context, name: -1.0 - len(name),
        )
        self.pages: list[str] = []

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        if len(messages) == 1:
            self.pages.append(str(messages[0].text))
        else:
            texts = (f"[{type(m).__name__.lower()}] {m.text}" for m in messages)
            self.pages.append("\n".join(texts))
        return await super().complete(messages, settings, tools)

    async def score(
        self, context: Context, candidates: Sequence[str], settings: Settings = AS_THE_PROVIDER_DOES
    ) -> Scores:
        self.pages.append(str(context))
        return await super().score(context, candidates, settings)


def setup_of(table: Table, strategy: Strategy) -> Setup:
    """The table with the strategy in the model's seat."""
    fields = {"with_": dict(table.with_[strategy.name])} if strategy.name in table.with_ else {}
    model = PlayerSpec("language", {"model": "table_recorder", "strategy": strategy.name, **fields})
    lineup = {seat: PlayerSpec(player) for seat, player in table.others.items()} | {
        table.seat: model
    }
    injected = table.told if "told" in strategy.needs else ()
    arms = {table.seat: table.asked} if table.asked else {}
    kept = table.kept if not injected else ()
    setup = Setup(table.problem, 1, lineup, arms=arms, injections=injected + kept, retries=0)
    return resolve_setup(setup)


def fits(game: str, strategy: Strategy) -> bool:
    """Whether a strategy can sit at the table of a game."""
    registry.add("models", "table_recorder", lambda name: Recorder(in_the_locker))
    try:
        setup_of(TABLES[game](strategy), strategy)
    except BadInput:
        return False
    return True


def conversation(game: str, strategy: Strategy) -> str:
    """All that was said to the model in the turns that are shown."""
    table = TABLES[game](strategy)
    model = Recorder(table.says)
    registry.add("models", "table_recorder", lambda name: model)
    setup = setup_of(table, strategy)
    match = Match(registry.game(game), setup)
    Driver(match, players_of(match)).run()
    return "\n".join(_written(table, match, model))


def _written(table: Table, match: Match, model: Recorder) -> Iterator[str]:
    pages, rows_before = iter(model.pages), list[list[str]]()
    for event in match.events:
        if isinstance(event, Moved | Reported) and event.seat == table.seat:
            for call in event.calls:
                page = next(pages)
                if table.shown(event.turn):
                    about = f", {event.probe}" if isinstance(event, Reported) else ""
                    number = len(rows_before) + 1
                    yield f"=== page {number}: turn {event.turn + 1}, {call.purpose}{about} ==="
                    yield _from_where_it_differs(page.split("\n"), rows_before)
                    yield f"--- {_answer(call)}\n"
                    rows_before.append(page.split("\n"))


def _from_where_it_differs(page: list[str], before: Sequence[list[str]]) -> str:
    """The page without the lines with which it begins like an earlier one."""
    shared = [(_same(page, earlier), number) for number, earlier in enumerate(before, 1)]
    most, number = max(shared, default=(0, 0), key=lambda pair: (pair[0], pair[1]))
    if most < FEWEST:
        return "\n".join(page)
    return "\n".join([f"[{most} lines as on page {number}]", *page[most:]])


def _same(page: Sequence[str], second: Sequence[str]) -> int:
    """How many lines two pages share at their beginning."""
    for index, (first, two) in enumerate(zip(page, second, strict=False)):
        if first != two:
            return index
    return min(len(page), len(second))


def _answer(call: Call) -> str:
    if call.scores:
        return "log-probabilities: " + ", ".join(f"{score:.3f}" for score in call.scores)
    return f"reply:\n{call.reply}"


def goldens() -> list[tuple[str, Strategy]]:
    """Every game here with every strategy that fits it."""
    all_strategies: list[Strategy] = list(registry.entries("strategies").values())
    return [
        (game, s)
        for game in TABLES
        for s in all_strategies
        if (game not in SEATS or s.name in STRATEGIES) and fits(game, s)
    ]


def path_of(game: str, strategy: Strategy) -> Path:
    return FOLDER / game / f"{strategy.name}.txt"
