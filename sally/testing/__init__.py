"""Conformance checks for authors of games, the same that every shipped game passes.

>>> from sally import testing
>>> testing.check_game("eleven_twenty", seeds=1)

In pytest one line is enough: `def test_mine(): check_game("mine")`.
"""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.testing import logs, probes, rooms, rules, words
from sally.testing.bench import ENDLESS
from sally.testing.bench import Bench as Bench
from sally.testing.bench import Broken as Broken

__all__ = ["Bench", "Broken", "Result", "check_game", "check_metric", "check_partner", "results"]

ONCE: tuple[Callable[[Bench], None], ...] = (
    rules.only_forfeits_come_to_an_end,
    rules.another_seed_gives_another_episode,
    logs.a_wrong_answer_leaves_the_match_as_it_was,
    logs.censoring_at_any_moment_plays_back,
    words.pages_grow_by_appending,
    words.a_page_says_what_is_wanted_and_how,
    words.people_can_read_every_option,
    words.every_text_has_plain_slots,
    words.words_refuse_what_is_unclear,
    words.reports_are_read_and_unclear_ones_refused,
    words.a_model_can_answer_every_page,
    words.every_strategy_can_ask,
    probes.every_probe_is_asked_answered_and_scored,
    probes.an_oracle_tells_the_truth,
    probes.a_told_seat_is_told_in_words,
    probes.helpers_have_a_default_occupant,
)
SEEDED: tuple[Callable[[Bench, int], None], ...] = (
    rules.play_comes_to_an_end,
    rules.rules_hold_at_every_step,
    rules.rules_return_and_do_not_change,
    rules.forfeits_keep_the_match_consistent,
    rules.same_seed_same_episode,
    rules.probing_changes_no_move,
    rules.another_lineup_sees_the_same_deals,
    logs.replay_from_disk_gives_the_same,
    logs.answers_in_any_order_give_the_same_log,
    logs.the_asynchronous_driver_gives_the_same_log,
    words.words_read_what_words_name,
)
SEEDS = 5
LONGEST = 300  # seconds of one check; the slowest of the shipped games takes a few


@dataclass(frozen=True)
class Result:
    """One check and its result."""

    check: str
    why: str = ""  # what is wrong; "" if it passed

    @property
    def passed(self) -> bool:
        return not self.why


def check_game(game: str, params: Mapping[str, Any] | None = None, *, seeds: int = SEEDS) -> None:
    """Check a registered game with its partners, metrics, card and board; raises Broken if a check
    fails."""
    _refuse(game, results(game, params, seeds=seeds))


def check_partner(game: str, partner: str, params: Mapping[str, Any] | None = None) -> None:
    """Check that one partner of a game behaves as its registration declares."""
    bench = Bench.of(game, params)
    check_results = [run_check(name, run) for name, run in rooms.partner_checks(bench, partner)]
    if not any(rooms.seats_of(partner, member) for member in _family(game)):
        needs = registry.partners(registry.family(game).name)[partner].lines
        if not needs:
            check_results.append(Result(f"{partner} sits somewhere", "it fits no seat"))
    _refuse(f"{partner} in {game}", check_results)


def check_metric(game: str, metric: str, params: Mapping[str, Any] | None = None) -> None:
    """Check that one metric is a number computed from the log, in complete play and with
    forfeits."""
    bench = Bench.of(game, params)
    entry = registry.pick("metric", metric, registry.metrics(registry.family(game).name))
    run = partial(rooms.a_metric_is_a_number_of_the_log, rooms.sample_of(bench), entry)
    _refuse(f"{metric} in {game}", [run_check(f"{metric} is a number computed from the log", run)])


def results(
    game: str, params: Mapping[str, Any] | None = None, *, seeds: int = SEEDS
) -> Iterator[Result]:
    """Run every check of a game and yield the results."""
    if seeds < 1:
        raise BadInput(f"seeds must be at least 1, not {seeds}.")
    bench = Bench.of(game, params)
    try:
        bench.game  # noqa: B018  # parameters that cannot be are refused before anything is checked
    except BadInput:
        raise
    except Exception as error:
        yield Result("the rules can be built", _describe_error(error))
        return
    checks = _checks(bench, seeds)
    while True:
        try:
            name, run = next(checks)
        except StopIteration:
            return
        except Exception as error:  # a part of the game that the remaining checks need
            yield Result("the remaining checks can be made", _describe_error(error))
            return
        yield (result := run_check(name, run))
        if result.why in (ENDLESS, TOO_LONG):
            yield Result("the remaining checks can be made", "they would not end either")
            return


Check = tuple[str, Callable[[], Any]]
TOO_LONG = f"it was stopped after {LONGEST} seconds"


def _checks(bench: Bench, seeds: int) -> Iterator[Check]:
    for seeded in SEEDED:
        yield _check_name(seeded), partial(_each_seed, seeded, bench, seeds)
    yield _check_name(rules.views_remember), partial(rules.views_remember, bench, range(2 * seeds))
    for check in ONCE:
        yield _check_name(check), partial(check, bench)
    yield from room_checks(bench)


def room_checks(bench: Bench) -> Iterator[Check]:
    """Return the checks of a game's spec, partners, metrics, card and board."""
    family = registry.family(bench.spec.name).name
    spec = rooms.the_spec_names_what_there_is
    yield _check_name(spec), partial(spec, bench)
    for name, partner in registry.partners(family).items():
        if not partner.helps:
            yield from rooms.partner_checks(bench, name)
    sample = rooms.sample_of(bench)
    for name, metric in registry.metrics(family).items():
        run = partial(rooms.a_metric_is_a_number_of_the_log, sample, metric)
        yield f"{name} is a number computed from the log", run
    card = registry.card(bench.spec.name)
    for condition in card.of(bench.spec.name) if card else ():
        name = f"the card has rules and inverses: {condition.name}"
        yield name, partial(rooms.a_card_looks_both_ways, condition)
    if registry.part(bench.spec.name, "board") is not None:
        yield (
            _check_name(rooms.a_board_is_drawn_from_the_view),
            partial(rooms.a_board_is_drawn_from_the_view, bench),
        )


def _family(game: str) -> list[Bench]:
    """Return a test fixture (`Bench`) for every public game of a game's family."""
    family = registry.family(game).name
    names = [name for name, spec in registry.games().items() if spec.family == family]
    return [Bench.of(name) for name in names]


def _each_seed(check: Callable[[Bench, int], None], bench: Bench, seeds: int) -> None:
    for seed in range(seeds):
        check(bench, seed)


def _check_name(check: Callable[..., None]) -> str:
    return check.__name__.replace("_", " ")


def run_check(name: str, run: Callable[[], Any]) -> Result:
    """Return the result of a check; an exception in the author's code and a timeout count as
    failures."""
    try:
        with _stopped_after(LONGEST):
            run()
    except Broken as error:
        problem = str(error)
        return Result(
            name, problem if problem in (ENDLESS, TOO_LONG) else _with_seat(problem, error)
        )
    except Exception as error:
        return Result(name, _describe_error(error))
    return Result(name)


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    """Raise Broken if the block runs longer than `seconds`; without effect on Windows, which lacks
    the timer."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(
        signal, "setitimer"
    ):
        yield
        return

    def stop(*_: object) -> None:
        raise Broken(TOO_LONG)

    previous_handler = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous_handler)


def _describe_error(error: Exception) -> str:
    """Return an exception as text: its type, where it was raised, and its message."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    sentence = f"{type(error).__name__} in {last.name}, line {last.lineno}: {error}"
    return _with_seat(sentence, error)


def _with_seat(sentence: str, error: Exception) -> str:
    """Return the sentence with the seat whose turn it was, as the innermost frame knows it."""
    seat = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        turn = frame.f_locals.get("turn")
        seat = str(getattr(turn, "seat", "") or frame.f_locals.get("seat", "") or seat)
    return sentence if not seat or seat in sentence else f"seat {seat}: {sentence}"


def _refuse(subject: str, check_results: Iterator[Result] | list[Result]) -> None:
    broken = [f"{result.check}: {result.why}" for result in check_results if not result.passed]
    if broken:
        raise Broken(f"{subject} fails {len(broken)} checks:\n" + "\n".join(broken))
