"""Check recipes of certified pairs: `python -m benchmarks.pairs [GAME ...] [--pairs 1000]`.

With `--learners 1000`, learners also read the pages of that many pairs and answer as many others;
`--pairs 0` leaves out everything else. `--certificates` only checks the certificate of each pair
and prints the count after every 100 pairs. `--recipe` and `--order` choose one recipe or order. A
table of all recipes comes last.

For every recipe and order: the share of pairs whose certificate holds and whose members have the
same words; the largest |J| and |D| over all mindless rules, constants and places on the menu, none
of which may depend on the member; uniform players; reasoners of every order;
dialled players, which know the answer with probability q, else guess, and act on their prediction
with probability r, else guess; and the share of 95% intervals of J that contain the dial.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

import msgspec

from sally.analysis.pairs.certificate import certify
from sally.analysis.pairs.learners import attack_pairs
from sally.analysis.pairs.positions import AskedPosition, open_position, right_answers
from sally.analysis.pairs.score import PlayerScore, PositionAnswer, join_pairs, score_player
from sally.core.registry import registry
from sally.core.registry.recipes import recipes_of
from sally.core.rules.chance import Stream
from sally.core.rules.pair import QUESTIONS, PairRecipe, QuestionKind, draw_pair
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate
from sally.stats.pairs import BOUNDS, PairScore, outcome_of, score_pairs

SEED = 2026
DIALS = ((0.3, 0.9), (0.9, 0.3), (0.6, 0.6))
SIMULATIONS, SIMULATED_PAIRS = 500, 100
GUESSERS = 100
Answers = Mapping[QuestionKind, Any]


class OpenPosition(msgspec.Struct, frozen=True):
    """One member of a pair with everything that simulated players need."""

    pair: str
    member: int
    menus: dict[QuestionKind, tuple[Any, ...]]
    right: dict[QuestionKind, tuple[Any, ...]]
    best: dict[Any, tuple[Any, ...]]  # best moves by predicted answer
    by_rule: dict[str, Answers]
    by_order: tuple[Any, ...]  # predictions of the reasoners of order 0, 1, ...


OpenPair = tuple[OpenPosition, OpenPosition]
Player = Callable[[OpenPosition, Stream], Answers]


def open_pairs(recipe: PairRecipe, order: int, count: int, seed: int) -> list[OpenPair]:
    """Return pairs with the answers of all rules and reasoners."""
    pairs = []
    for number in range(count):
        pair = draw_pair(recipe, order, seed, number)
        first, second = (
            _describe(recipe, order, pair.id, member, open_position(recipe, pair, member))
            for member in (0, 1)
        )
        pairs.append((first, second))
    return pairs


def _describe(
    recipe: PairRecipe, order: int, pair: str, member: int, position: AskedPosition
) -> OpenPosition:
    question = position.asks["know"].question
    assert question is not None
    choices = tuple(question.choices)
    game, view = position.game, position.view
    rules = recipe.rules(order)
    return OpenPosition(
        pair,
        member,
        {"know": choices, "do": tuple(position.asks["do"].options)},
        dict(right_answers(recipe, position)),
        {choice: tuple(recipe.best_moves(game, view, choice)) for choice in choices},
        {name: {q: rule(game, view, q) for q in QUESTIONS} for name, rule in rules.items()},
        tuple(recipe.reason(game, view, lower) for lower in range(order + 1)),
    )


# --- players --------------------------------------------------------------------------------------


def fixed_players(pairs: Sequence[OpenPair]) -> Iterator[tuple[str, Player]]:
    """Yield the mindless rules, the constants, and the places on the menu."""
    first = pairs[0][0]
    for name in first.by_rule:
        yield name, partial(_follow_rule, name)
    for place in range(max(map(len, first.menus.values()))):
        yield f"option {place} of the menu", partial(_choose_place, place)
    values = {value for menu in first.menus.values() for value in menu}
    for value in sorted(values, key=str):
        yield f"always {value}", partial(_repeat, value)


def _follow_rule(name: str, position: OpenPosition, chance: Stream) -> Answers:
    return position.by_rule[name]


def _choose_place(place: int, position: OpenPosition, chance: Stream) -> Answers:
    return {question: menu[place % len(menu)] for question, menu in position.menus.items()}


def _repeat(value: Any, position: OpenPosition, chance: Stream) -> Answers:
    return dict.fromkeys(QUESTIONS, value)


def guess(position: OpenPosition, chance: Stream) -> Answers:
    return {question: chance.pick(menu) for question, menu in position.menus.items()}


def reason_to(order: int) -> Player:
    """Return a player that predicts with a reasoner and plays the best reply."""

    def play(position: OpenPosition, chance: Stream) -> Answers:
        predicted = position.by_order[order]
        moves = position.best[predicted]  # none if no mind that fits makes this prediction true
        return {"know": predicted, "do": moves[0] if moves else None}

    return play


def dial_player(knows: float, acts: float) -> Player:
    """Return a player that knows and acts on its prediction with given probabilities."""

    def play(position: OpenPosition, chance: Stream) -> Answers:
        is_known = chance() < knows
        predicted = position.right["know"][0] if is_known else chance.pick(position.menus["know"])
        called_for = position.best[predicted]
        acts_on_it = bool(called_for) and chance() < acts
        move = called_for[0] if acts_on_it else chance.pick(position.menus["do"])
        return {"know": predicted, "do": move}

    return play


def play_pairs(
    recipe: PairRecipe, order: int, pairs: Sequence[OpenPair], player: Player, seed: int
) -> PlayerScore:
    """Return the score of a simulated player."""
    answers = []
    for positions in pairs:
        for position in positions:
            chance = Stream("pairs", seed, position.pair, position.member)
            reply = dict(player(position, chance))
            predicted = reply.get("know")
            answers.append(
                PositionAnswer(
                    "player",
                    recipe.game,
                    recipe.name,
                    order,
                    position.pair,
                    position.member,
                    "",
                    reply,
                    position.right,
                    position.best.get(predicted),
                )
            )
    return score_player(join_pairs(answers))


def score_fixed(pairs: Sequence[OpenPair], player: Player, question: QuestionKind) -> PairScore:
    chance = Stream("fixed")
    return score_pairs(
        [
            outcome_of(
                (player(first, chance)[question], player(second, chance)[question]),
                (first.right[question], second.right[question]),
            )
            for first, second in pairs
        ]
    )


def score_guesses(pairs: Sequence[OpenPair], question: QuestionKind) -> str:
    """Return the mean score of uniform players, and how many of their intervals contain 0."""
    scores = []
    for number in range(GUESSERS):
        chance = Stream("guess", number)
        outcomes = []
        for first, second in pairs:
            answers = guess(first, chance)[question], guess(second, chance)[question]
            outcomes.append(outcome_of(answers, (first.right[question], second.right[question])))
        scores.append(score_pairs(outcomes))
    parts = []
    for name in ("j", "d"):
        estimates: list[Estimate] = [getattr(score, name) for score in scores]
        mean = fmean(estimate.value or 0.0 for estimate in estimates)
        hits = fmean(
            estimate.low is not None and estimate.high is not None
            and estimate.low <= 0 <= estimate.high
            for estimate in estimates
        )  # fmt: skip
        parts.append(f"{name.upper()} {mean:.3f} (intervals with 0: {hits:.2f})")
    return f"{', '.join(parts)}; {GUESSERS} players"


# --- report ---------------------------------------------------------------------------------------


def format_estimate(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


class RecipeRow(msgspec.Struct, frozen=True):
    """One line of the table of all recipes."""

    recipe: str
    order: int
    pairs: int
    milliseconds: float  # of processor time to draw a pair and open both members
    certified: float
    same_words: float
    players: int  # without a mind
    worst: float  # largest |J| or |D| of these
    by_order: tuple[float, ...]  # D of reasoners of order 0, 1, ...
    learner: str  # with the largest |D|
    passes: bool


def report_recipe(
    recipe: PairRecipe, order: int, count: int, seed: int, learner_pairs: int
) -> RecipeRow:
    """Print the figures of one recipe and order, and return them as a line of the table."""
    start = time.process_time()
    drawn_pairs = []
    for number in range(count):
        pair = draw_pair(recipe, order, seed, number)
        drawn_pairs.append(pair)
        for member in (0, 1):
            open_position(recipe, pair, member)
    milliseconds = 1000 * (time.process_time() - start) / count
    certificates = [certify(pair) for pair in drawn_pairs]
    pairs = open_pairs(recipe, order, count, seed)
    certified = fmean(certificate.holds for certificate in certificates)
    same_words = fmean(certificate.has_same_words for certificate in certificates)
    print(f"\n{recipe.game}, {recipe.name}, order {order}: {recipe.about}")
    print(f"  {count} pairs, {milliseconds:.1f} ms of processor time to draw and open one")
    print(f"  certificate holds {certified:.2f}, same words {same_words:.2f}")
    for problem in {problem for certificate in certificates for problem in certificate.problems}:
        print(f"    {problem}")
    players = dict(fixed_players(pairs))
    scores = {
        (name, question): score_fixed(pairs, player, question)
        for name, player in players.items()
        for question in QUESTIONS
    }
    worst_j = max(abs(score.j.value or 0) for score in scores.values())
    worst_d = max(abs(score.d.value or 0) for score in scores.values())
    count_rules = len(recipe.rules(order))
    print(
        f"  {len(players)} players without a mind ({count_rules} rules): "
        f"largest |J| {worst_j:.2f}, largest |D| {worst_d:.2f}"
    )
    passes = certified == 1 and worst_j == 0 and worst_d == 0
    for question in QUESTIONS:
        print(f"  uniform, {question}: {score_guesses(pairs, question)}")
    by_order = []
    for lower in range(order + 1):
        score = play_pairs(recipe, order, pairs, reason_to(lower), seed).knowing
        assert score is not None
        by_order.append(score.d.value or 0.0)
    print(f"  D of reasoners of order 0 to {order}: {', '.join(f'{d:.2f}' for d in by_order)}")
    passes &= by_order == [0.0] * order + [1.0]
    for knows, acts in DIALS:
        parts = play_pairs(recipe, order, pairs, dial_player(knows, acts), seed)
        assert parts.knowing and parts.doing and parts.acting
        print(
            f"  dialled ({knows}, {acts}): knowing {format_estimate(parts.knowing.j)}, doing "
            f"{format_estimate(parts.doing.j)}, acting {format_estimate(parts.acting.j)}; "
            f"{coverage(pairs, knows, acts)}"
        )
    learner = report_learners(recipe, order, learner_pairs, seed) if learner_pairs else "-"
    print(f"  {'passes' if passes else 'FAILS'}", flush=True)
    return RecipeRow(
        f"{recipe.game} {recipe.name}",
        order,
        count,
        milliseconds,
        certified,
        same_words,
        len(players),
        max(worst_j, worst_d),
        tuple(by_order),
        learner,
        passes,
    )


def count_certified(recipe: PairRecipe, order: int, count: int, seed: int) -> None:
    """Print how many pairs have a certificate, after every 100 pairs."""
    certified = 0
    for number in range(count):
        certified += certify(draw_pair(recipe, order, seed, number)).holds
        if (number + 1) % 100 == 0:
            print(
                f"{recipe.game} {recipe.name}, order {order}: {certified} of {number + 1}",
                flush=True,
            )


def report_learners(recipe: PairRecipe, order: int, count: int, seed: int) -> str:
    """Print D of learners trained on pages, and return the one that is farthest from 0."""
    scores = attack_pairs(recipe, order, count, count, seed)
    for score in scores:
        print(
            f"  {score.learner}, {score.question}: D {format_estimate(score.score.d)}, "
            f"J {format_estimate(score.score.j)}"
        )
    worst = max(scores, key=lambda score: abs(score.score.d.value or 0.0))
    return format_estimate(worst.score.d)


def print_rows(rows: Sequence[RecipeRow]) -> None:
    columns = ("recipe", "order", "n", "ms", "certified", "same words", "mindless (n)")
    print(f"\n| {' | '.join((*columns, 'reasoners', 'learner'))} |")
    print("|---" * (len(columns) + 2) + "|")
    for row in rows:
        reasoners = ", ".join(f"{d:.2f}" for d in row.by_order)
        print(
            f"| {row.recipe} | {row.order} | {row.pairs} | {row.milliseconds:.1f} | "
            f"{row.certified:.3f} | {row.same_words:.3f} | {row.worst:.2f} ({row.players}) | "
            f"{reasoners} | {row.learner} |{'' if row.passes else ' FAILS'}"
        )


def coverage(pairs: Sequence[OpenPair], knows: float, acts: float) -> str:
    """Return how many intervals of J contain the dial, in simulations on samples of the pairs."""
    hits = dict.fromkeys(QUESTIONS, 0)
    dials: Mapping[QuestionKind, float] = {"know": knows, "do": knows * acts}
    play = dial_player(knows, acts)
    for simulation in range(SIMULATIONS):
        chance = Stream("coverage", simulation)
        values: dict[QuestionKind, list[float]] = {"know": [], "do": []}
        for _ in range(SIMULATED_PAIRS):
            first, second = chance.pick(pairs)
            answers = play(first, chance), play(second, chance)
            for question in QUESTIONS:
                outcome = outcome_of(
                    (answers[0][question], answers[1][question]),
                    (first.right[question], second.right[question]),
                )
                values[question].append(outcome.j)
        for question, dial in dials.items():
            estimate = mean_by_rule(values[question], range(SIMULATED_PAIRS), BOUNDS)
            assert estimate.low is not None and estimate.high is not None
            hits[question] += estimate.low <= dial <= estimate.high
    shares = " and ".join(f"{count / SIMULATIONS:.2f}" for count in hits.values())
    return f"intervals of knowing and doing contain the dial in {shares}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--learners", type=int, default=0, help="pairs that learners read")
    parser.add_argument("--certificates", action="store_true", help="only certificates")
    parser.add_argument("--recipe", help="only this recipe")
    parser.add_argument("--order", type=int, help="only this order")
    options = parser.parse_args()
    kinds = [
        (recipe, order)
        for game in options.games or registry.entries("games")
        for recipe in recipes_of(game)
        for order in recipe.orders
        if options.recipe in (None, recipe.name) and options.order in (None, order)
    ]
    if options.certificates:
        for recipe, order in kinds:
            count_certified(recipe, order, options.pairs, options.seed)
        return
    if not options.pairs:
        for recipe, order in kinds:
            print(f"{recipe.game} {recipe.name}, order {order}, {options.learners} pairs")
            report_learners(recipe, order, options.learners, options.seed)
        return
    rows = [
        report_recipe(recipe, order, options.pairs, options.seed, options.learners)
        for recipe, order in kinds
    ]
    print_rows(rows)
    raise SystemExit(0 if all(row.passes for row in rows) else 1)


if __name__ == "__main__":
    main()
