"""Training tasks of the game `battery`, which asks questions about stories, and the depths of
reasoning that its questions require."""

from __future__ import annotations

from collections.abc import Iterator

from sally.core.rules.depth import DepthDecision, Depths, Reasoned
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.battery.items import Item
from sally.games.battery.metrics import answers
from sally.games.battery.rules import PER_STORY, SEED, Generator, generate_item
from sally.games.battery.scores import majority
from sally.parts.training import Split, Training, by_problem

STORIES = 60  # of each set of the depth table


def _training_tasks(game: str) -> Split:
    """Return stories of the three generators, split so that no story is in two parts. Imported
    items are not offered, because their authors ask that they be used for evaluation only."""
    kinds: tuple[Generator, ...] = ("nested", "belief_action", "applied")
    problems = {
        f"{kind}_{n}": {"generator": kind, "number": n * PER_STORY[kind], "length": PER_STORY[kind]}
        for kind in kinds
        for n in range(STORIES)
    }
    return by_problem(game, "reader", problems, {})


TRAINING = Training(_training_tasks)

ABOUT = (
    "depth 0 answers with what is so; depth k follows the last k minds of the chain that the "
    "question names; belief_action and applied ask about one mind"
)
NOTES = (
    "Nested items of order k: with probability one third every shallower reading has the key, else "
    "none has it, so a reader one mind short is right as often as a guess.",
)


def _reason_about(item: Item) -> Reasoned | None:
    if not item.by_depth or not item.order:
        return None
    by_depth = tuple((answer,) for answer in item.by_depth)
    group = f"nested, order {item.order}" if item.task == "nested" else f"one mind, {item.task}"
    return Reasoned(by_depth, (item.answer,), 1 / len(item.options), item.order, group)


def _questions() -> Iterator[Reasoned]:
    for order in range(1, 5):
        for n in range(STORIES):
            if question := _reason_about(generate_item("nested", SEED, n, order)):
                yield question
    kinds: tuple[Generator, ...] = ("belief_action", "applied")
    for kind in kinds:
        for n in range(STORIES * PER_STORY[kind]):
            if question := _reason_about(generate_item(kind, SEED, n)):
                yield question


def _judge_answers(played: Played, seat: Seat) -> Iterator[DepthDecision]:
    for item, item_answers in answers(played, seat):
        if question := _reason_about(item):
            yield DepthDecision(question, majority(item_answers) == item.answer)


DEPTHS = Depths(ABOUT, _questions, _judge_answers, NOTES)
