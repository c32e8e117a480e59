"""What every game on the shelf must satisfy."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.chance import Stream
from sally.core.desk import Desk
from sally.core.drive import play_async
from sally.core.errors import IllegalMove, NotAsked, Unreadable
from sally.core.game import NATURE
from sally.core.log import Forfeited, Moved, Reported, Told, from_line, to_line
from sally.core.menu import admitted, example, filled, is_finite
from sally.core.partner import Partner
from sally.core.playback import mismatch, replayed
from sally.core.player import Decision, Fault, Forfeit
from sally.core.probe import At, Injection, Report, problem, score
from sally.runner.seating import kinds
from tests.table import (
    SENT_BACK,
    SHAPES,
    all_probes,
    answered_by,
    asked_in_turn,
    every,
    match_of,
    play_in_any_order,
    played,
    players_at,
    spec_of,
    table,
)

every_game = pytest.mark.parametrize("name", every())
any_seed = given(seed=st.integers(0, 2**53))


# --- the rules ----------------------------------------------------------------------------------


@every_game
@any_seed
def test_rules_hold_at_every_step(name: str, seed: int) -> None:
    spec = spec_of(name)
    replay = replayed(spec, played(table(name, seed)))
    game = replay.game
    for step in replay.steps():
        movers = game.to_move(step.before)
        assert sorted((*step.moves, *step.forfeited)) == sorted(movers)
        assert set(movers) <= {*game.seats, *game.helpers}
        for seat, action in step.moves.items():
            assert admitted(game.options(step.before, seat), action) == action
        if NATURE in movers:
            assert movers == (NATURE,)
            odds = game.odds(step.before)
            assert sum(odds.values()) == pytest.approx(1)
            assert set(odds) <= set(game.options(step.before, NATURE))
            assert min(odds.values()) >= 0
    assert set(game.payoffs(replay.states[-1])) == set(game.seats)
    assert game.to_move(replay.states[-1]) == ()


@every_game
@any_seed
def test_rules_return_and_do_not_change(name: str, seed: int) -> None:
    replay = replayed(spec_of(name), played(table(name, seed)))
    game = replay.game
    for step in replay.steps():
        before, looks = hash(step.before), repr(step.before)
        again = (
            game.forfeit(step.before, dict(step.moves), step.forfeited)
            if step.forfeited
            else game.step(step.before, dict(step.moves))
        )
        assert again == step.after
        assert (hash(step.before), repr(step.before)) == (before, looks)
        for seat in game.seats:
            assert hash(game.observe(step.after, seat)) == hash(game.observe(again, seat))
        with pytest.raises((AttributeError, TypeError)):
            step.before.story_of_somebody_else = 1


@every_game
@given(seeds=st.lists(st.integers(0, 2**53), min_size=2, max_size=12))
def test_views_remember(name: str, seeds: list[int]) -> None:
    """Perfect recall: whoever sees the same now has seen and done the same before."""
    past_of: dict[Any, Any] = {}
    for seed in seeds:
        replay = replayed(spec_of(name), played(table(name, seed)))
        past: dict[Any, tuple[Any, ...]] = dict.fromkeys(replay.game.seats, ())
        seen: dict[Any, Any] = {}
        for step in replay.steps():
            for seat in replay.game.seats:
                view = replay.game.observe(step.before, seat)
                if seat in seen and seen[seat] != view:
                    past[seat] += (seen[seat],)
                seen[seat] = view
                assert past_of.setdefault((seat, view), past[seat]) == past[seat]
                if seat in step.moves:
                    past[seat] += (step.moves[seat],)


@every_game
@pytest.mark.parametrize("seed", range(5))
def test_forfeits_at_any_point_keep_the_match_consistent(name: str, seed: int) -> None:
    setup = table(name, seed, arms=all_probes(name))
    match = match_of(setup)
    play_in_any_order(match, Stream("order", seed), forfeits=0.3)
    episode = from_line(to_line(match.episode()))
    assert mismatch(spec_of(name), episode) is None
    replay = replayed(spec_of(name), episode)
    lost = {(e.turn, e.seat) for e in episode.events if isinstance(e, Forfeited)}
    assert {(t, s) for t, seats in replay.forfeited.items() for s in seats} == lost
    assert replay.states == match.replay.states
    for event in episode.events:
        if isinstance(event, Moved):
            assert (event.turn, event.seat) not in lost


@every_game
def test_a_seat_that_only_forfeits_comes_to_an_end(name: str) -> None:
    match = match_of(table(name))
    play_in_any_order(match, Stream(1), forfeits=1.0)
    assert match.over


# --- chance -------------------------------------------------------------------------------------


@every_game
@pytest.mark.parametrize("seed", range(10))  # not @given: Hypothesis reseeds `random`
def test_same_seed_same_episode(name: str, seed: int) -> None:
    setup = table(name, seed, arms=all_probes(name))
    assert to_line(played(setup)) == to_line(played(setup))


@every_game
def test_another_seed_gives_another_episode(name: str) -> None:
    assert len({msgspec.json.encode(played(table(name, s)).events) for s in range(30)}) > 1


@every_game
@pytest.mark.parametrize("seed", range(10))
def test_probing_changes_no_move(name: str, seed: int) -> None:
    plain, probed = (played(table(name, seed, arms=a)) for a in ({}, all_probes(name)))
    assert [e for e in plain.events if isinstance(e, Moved)] == [
        e for e in probed.events if isinstance(e, Moved)
    ]
    assert plain.payoffs == probed.payoffs


@every_game
@pytest.mark.parametrize("seed", range(5))
def test_another_lineup_sees_the_same_deals(name: str, seed: int) -> None:
    """Nature's draw of a turn depends on the seed and her lottery, not on who plays."""
    spec = spec_of(name)
    partners = {
        n for n, kind in kinds(spec).items() if isinstance(kind, Partner) and not kind.helps
    }
    minds = sorted({*partners, "constant"} - {"random"})
    first = replayed(spec, played(table(name, seed)))
    for mind in minds[:8]:
        try:
            second = replayed(spec, played(table(name, seed, who=mind)))
        except ValueError:
            continue  # this one does not play this game
        for one, two in zip(first.steps(), second.steps(), strict=False):
            dealt = NATURE in one.moves and NATURE in two.moves
            if dealt and first.game.odds(one.before) == second.game.odds(two.before):
                assert one.moves == two.moves


# --- the log ------------------------------------------------------------------------------------


@every_game
@any_seed
def test_replay_from_disk_gives_the_same_events_and_payoffs(name: str, seed: int) -> None:
    episode = played(table(name, seed, arms=all_probes(name)))
    read_back = from_line(to_line(episode))
    assert to_line(read_back) == to_line(episode)
    assert mismatch(spec_of(name), read_back) is None
    replay = replayed(spec_of(name), read_back)
    assert replay.game.payoffs(replay.states[-1]) == read_back.payoffs


@every_game
@pytest.mark.parametrize("seed", range(5))
def test_answers_in_any_order_give_the_same_log(name: str, seed: int) -> None:
    for arms, injections in conditions(name):
        setup = table(name, seed, arms=arms, injections=injections)
        in_order = played(setup)
        for order in range(3):
            match = match_of(setup)
            play_in_any_order(match, Stream("order", order))
            assert to_line(match.episode()) == to_line(in_order)


@every_game
@pytest.mark.parametrize("seed", range(3))
def test_the_asynchronous_driver_gives_the_same_log(name: str, seed: int) -> None:
    class Slow:
        def __init__(self, player: Any) -> None:
            self.player = player

        async def decide(self, turn: Any) -> Any:
            return await self.late(turn)

        async def report(self, turn: Any) -> Any:
            return await self.late(turn)

        async def late(self, turn: Any) -> Any:
            for _ in range(Stream("late", *turn.id).below(4)):
                await asyncio.sleep(0)
            return answered_by(turn, {turn.seat: self.player})

    for arms, injections in conditions(name):
        setup = table(name, seed, arms=arms, injections=injections)
        match = match_of(setup)
        players = players_at(match)
        helped: Any = {
            seat: player if seat in match.game.helpers else Slow(player)
            for seat, player in players.items()
        }
        asyncio.run(play_async(match, helped))
        assert to_line(match.episode()) == to_line(played(setup))


@every_game
def test_a_wrong_answer_leaves_the_match_as_it_was(name: str) -> None:
    match = match_of(table(name, arms=all_probes(name)))
    for turn, good in asked_in_turn(match):
        before = (match.asks(), list(match.events), match.turn, match.memory(turn.seat))
        wrong: list[Any] = [None, "?", 10**9]
        if turn.question is None:
            illegal: tuple[Any, ...] = (None, "?", -1, 10**9, 0.5, [], {}, object(), "\ud800")
            wrong += [Report(0), *(Decision(action, "notes") for action in illegal)]
        else:
            values: tuple[Any, ...] = (-1, True, 0.5, "?", {"?": 1}, {"?": "x"}, [])
            wrong += [Report(value) for value in values]
            unreal: Any = ("a",)
            wrong += [Decision(0), Forfeit("x"), Report(good.value, (2.0,)), Report(None, unreal)]
        for bad in wrong:
            with pytest.raises(IllegalMove):
                match.answer(turn.id, bad)
            after = (match.asks(), list(match.events), match.turn, match.memory(turn.seat))
            assert after == before
        for stranger in ((99, turn.seat, "", ""), (turn.number, "nobody", "", "")):
            with pytest.raises(NotAsked):
                match.answer(stranger, good)
    with pytest.raises(NotAsked):
        match.answer(turn.id, good)


@every_game
def test_censoring_at_any_moment_gives_a_record_that_plays_back(name: str) -> None:
    for kind, (arms, injections) in enumerate(conditions(name)):
        setup = table(name, 3, arms=arms, injections=injections)
        whole = to_line(played(setup))
        asked = sum(1 for _ in asked_in_turn(match_of(setup)))
        for stop in range(kind % 4, asked, 1 if kind < 2 else 4):
            match = match_of(setup)
            for n, (turn, _) in enumerate(asked_in_turn(match)):
                if n == stop:
                    match.answer(turn.id, Fault("fault", "the line is dead"))
                    break
            episode = from_line(to_line(match.episode()))
            assert episode.payoffs is None
            assert mismatch(spec_of(name), episode) is None
            replay = replayed(spec_of(name), episode)
            assert replay.states == match.replay.states
            for event in episode.events[:-1]:
                assert msgspec.json.encode(event) in whole  # nothing that would not have happened


def conditions(name: str) -> list[tuple[Any, tuple[Injection, ...]]]:
    """No questions; all questions; and each probe told to one seat, as truth or as its own."""
    arms = all_probes(name)
    told: list[tuple[Any, tuple[Injection, ...]]] = [({}, ()), (arms, ())]
    for probe in spec_of(name).probes:
        seat = probe.seats[0]
        wrong = 0.0 if probe.kind == "values" else 0.5
        told.append((arms, (Injection(seat, probe.name, "truth", wrong, keep=True),)))
        if probe.point != "after":  # an answer behind the move cannot be told before it
            told.append((arms, (Injection(seat, probe.name, "own"),)))
    return told


# --- words --------------------------------------------------------------------------------------


@every_game
def test_pages_grow_by_appending(name: str) -> None:
    spec = spec_of(name)
    for arms, injections in conditions(name):
        pages: dict[Any, str] = {}
        match = match_of(table(name, 2, arms=arms, injections=injections))
        for turn, _ in asked_in_turn(match):
            for form in turn.desk.words.forms:
                opening = str(turn.desk.opening(turn.view, form))
                assert opening.startswith(pages.get((turn.seat, form), ""))
                pages[turn.seat, form] = opening
                if not any(i.keep for i in injections):
                    fresh = Desk(spec, match.game, turn.seat, 0)
                    assert str(fresh.opening(turn.view, form)) == opening


@every_game
def test_a_page_says_what_is_wanted_and_how(name: str) -> None:
    for turn, _ in asked_in_turn(match_of(table(name, arms=all_probes(name)))):
        words, view = turn.desk.words, turn.view
        assert words.rules(turn.seat).strip()
        if turn.question is None:
            assert words.question(view, turn.options).strip()
            shown = words.format(view, turn.options)
            names = words.menu(turn.options) if is_finite(turn.options) else ()
            scale = words.scale(turn.options)
        else:
            assert words.aside(turn.question, view, turn.pending).strip()
            shown = words.aside_format(turn.question)
            names = tuple(words.choice_name(turn.question, c) for c in turn.question.choices)
            scale = turn.question.scale
        said = names if scale is None else (str(scale.low), str(scale.high))
        assert all(n in shown for n in said)
        assert len(set(names)) == len(names)


@every_game
@pytest.mark.parametrize("seed", range(5))
def test_words_read_what_words_name(name: str, seed: int) -> None:
    for turn, _ in asked_in_turn(match_of(table(name, seed))):
        words, options = turn.desk.words, turn.options
        if is_finite(options):
            for option in options:
                for reply in (f"{words.label}: {words.name(option)}", words.name(option)):
                    assert words.read(reply, turn.view, options) == option
        else:
            for n in range(5):
                action = example(options, Stream(seed, n))
                said = json.dumps(msgspec.to_builtins(action))
                assert words.read(f"I choose:\n{said}", turn.view, options) == action
                assert filled(options, json.loads(said)) == action


@every_game
def test_words_refuse_what_is_unclear(name: str) -> None:
    for turn, _ in asked_in_turn(match_of(table(name))):
        if (name, turn.seat) in SENT_BACK:
            continue
        words, options = turn.desk.words, turn.options
        unclear = ["", " \n", "I would rather not. " * 50, "{", "{}", "[]", '{"kind": "?"}', "null"]
        if is_finite(options):
            names = words.menu(options)
            if len(names) > 1:
                unclear += [" or ".join(names), f"{words.label}: {' or '.join(names)}"]
            unclear += [f"{words.label}: not {n}" for n in names]
        else:
            said = json.dumps(msgspec.to_builtins(example(options, Stream(1))))
            unclear += [said[:-1], f"{said} or {said}", said.replace(":", ";")]
        for reply in unclear:
            with pytest.raises(Unreadable) as why:
                words.read(reply, turn.view, options)
            assert len(str(why.value)) > 10  # it teaches


@every_game
def test_reports_are_read_and_unclear_ones_refused(name: str) -> None:
    for turn, _ in asked_in_turn(match_of(table(name, arms=all_probes(name)))):
        question, words = turn.question, turn.desk.words
        if question is None:
            continue
        names = [words.choice_name(question, c) for c in question.choices]
        share = {n: 100 / len(names) for n in names}
        reply = {
            "choice": f"{words.label}: {names[-1]}",
            "odds": "Odds: " + ", ".join(f"{n} {p:.4f}%" for n, p in share.items()),
            "values": "\n".join(f"{n}: {question.high:g}" for n in names),
        }[question.kind]
        report = words.read_report(reply, question)
        assert problem(question, report) is None
        if question.kind == "choice":
            assert report.value == question.choices[-1]
        for unclear in ("", "Who knows?", "Odds: 5", f"{words.label}: {' and '.join(names)}"):
            with pytest.raises(Unreadable):
                words.read_report(unclear, question)


# --- probes and injection -----------------------------------------------------------------------


@every_game
def test_every_probe_is_asked_answered_and_scored(name: str) -> None:
    spec, scored = spec_of(name), set()
    for seed in range(8):
        episode = played(table(name, seed, arms=all_probes(name)))
        replay = replayed(spec, episode)
        for event in episode.events:
            if not isinstance(event, Reported):
                continue
            probe = spec.probe(event.probe)
            view = replay.view(event.turn, event.seat)  # type: ignore[arg-type]
            asked = {q.about: q for q in probe.asks(replay.game, view, event.seat)}  # type: ignore[arg-type]
            question = asked[event.about]
            truth = probe.truth(replay, At(event.turn, event.seat, probe.name, event.about))  # type: ignore[arg-type]
            if truth is None:
                continue
            assert problem(question, Report(truth, _sure(question, truth))) is None
            marks = score(question, Report(event.value, event.odds), truth)
            perfect = score(question, Report(truth, _sure(question, truth)), truth)
            assert marks, "a report with a truth has a score"
            for measure, mark in perfect.items():
                assert mark == (1.0 if measure in {"right", "answered"} else 0.0)
            scored.add(probe.name)
    assert name in SHAPES or scored == {p.name for p in spec.probes}


def _sure(question: Any, truth: Any) -> Any:
    if question.kind == "values":
        return None
    return tuple(float(c == truth) for c in question.choices)


@every_game
def test_an_oracle_tells_the_truth(name: str) -> None:
    spec = spec_of(name)
    for probe in spec.probes:
        injection = Injection(probe.seats[0], probe.name)
        for seed in range(3):
            setup = table(name, seed, arms=all_probes(name), injections=(injection,))
            episode = played(setup)
            replay = replayed(spec, episode)
            for told in (e for e in episode.events if isinstance(e, Told)):
                at = At(told.turn, told.seat, told.probe, told.about)  # type: ignore[arg-type]
                truth = probe.truth(replay, at)
                # what lies in the future of the move cannot be told, only scored
                assert told.value == truth or (told.value is None and probe.point == "after")


@every_game
def test_a_told_seat_is_told_in_words(name: str) -> None:
    for arms, injections in conditions(name):
        match = match_of(table(name, 2, arms=arms, injections=injections))
        for turn, _ in asked_in_turn(match):
            assert not turn.told or turn.question is None
            for told in turn.told:
                assert turn.desk.words.told(told).strip()
                assert told.value is not None


@every_game
def test_helpers_have_a_default_occupant(name: str) -> None:
    spec = spec_of(name)
    setup = table(name)
    for helper in match_of(setup).game.helpers:
        if helper != NATURE:
            sits = setup.lineup[helper]
            assert (sits.player, sits.params) == (spec.occupants[helper], {})
            assert sits.versions["player"] >= 1
