"""Practice games with feedback, in every game, and what they must not touch."""

from __future__ import annotations

import msgspec
import pytest

from sally.core.log.events import Instance, PlayerSpec, Reported
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.runner.local import play
from sally.runner.seating import resolve_setup
from sally.web.study.definition import Condition, Consent, HumanStudy, check_study, practice_of
from sally.web.study.practice import feedback
from tests.web.participants import RIGHT, TEXT, Participant, logged_in, study_server

PRACTICE = TEXT.replace("rounds = 2 ", "rounds = 2\npractice = true ", 1)


def study_with(game: str) -> HumanStudy:
    """A study of one game in which a person takes the first seat."""
    spec = registry.game(game)
    seat, *other_seats = spec.build({}).seats
    asked_names = [probe.name for probe in spec.probes if seat in probe.seats][:1]
    bare = HumanStudy(
        "one", "One", 4, Consent("Yes"), (Condition((seat,), name="all"),), practice=True
    )
    instance = Instance("only", game, {})
    others = {s: bare.usual_bot(instance, s, (seat,)) for s in other_seats}
    condition = Condition(
        (seat,), others, {seat: tuple(asked_names)}, name="all", instances=(instance,)
    )
    return HumanStudy("one", "One", 4, Consent("Yes"), (condition,), practice=True)


@pytest.mark.parametrize("game", sorted(registry.games()))
def test_every_game_has_practice_with_feedback(game: str) -> None:
    study = study_with(game)
    check_study(study)
    (planned,) = practice_of(study, study.conditions[0])
    (seat,) = planned.layout.people
    setup = study.setup(planned.layout, planned.instance, {seat: "me"})
    lineup = {**setup.lineup, seat: PlayerSpec("random")}
    episode = play(resolve_setup(msgspec.structs.replace(setup, lineup=lineup)))
    practice_feedback = feedback(study, episode, seat)
    own_turns = [turn for turn in practice_feedback.turns if turn.own]
    assert own_turns and practice_feedback.payoff is not None
    answered = [e for e in episode.events if isinstance(e, Reported) and e.seat == seat]
    assert sum(len(turn.predictions) for turn in practice_feedback.turns) == len(answered)


@pytest.mark.parametrize("game", ["codenames", "toma_po", "mindgames", "tradecraft"])
def test_practice_problem_is_not_in_the_study(game: str) -> None:
    spec, study = registry.game(game), study_with(game)
    draws = Stream(7, "problems")
    params = dict(spec.people.fresh(draws, game))
    seats = spec.build(params).seats
    (condition,) = study.conditions
    only = (Instance("only", game, params),)
    others = {s: study.usual_bot(only[0], s, condition.people) for s in seats[1:]}
    condition = msgspec.structs.replace(condition, instances=only, others=others)
    (planned,) = practice_of(msgspec.structs.replace(study, conditions=(condition,)), condition)
    assert any(planned.instance.params[key] != value for key, value in params.items())


def test_practice_names_the_options_as_the_study_does() -> None:
    study = study_with("rps")
    (planned,) = practice_of(study, study.conditions[0])
    spec = registry.game("rps")
    (played,) = {tuple(spec.build(i.params).names) for i in study.problems(study.conditions[0])}
    assert tuple(spec.build(planned.instance.params).names) == played


def test_practice_shows_feedback_and_is_not_paid(tmp_path):
    with study_server(tmp_path, PRACTICE) as server:
        person = Participant(server).agree("ann").read_on().check(*RIGHT)
        assert person.heading == "Practice game 1 of 2"
        early = person.post("/next", **person.form_at("practice-0"))  # it is not over
        assert early.heading == "Practice game 1 of 2" and "What happened" not in early.text
        person.play()
        assert "What happened" in person.text and "does not count towards your pay" in person.text
        person.next()
        assert person.heading == "Practice game 2 of 2"
        person.leave(person.seat_token)  # it can be left without harm
        assert person.get().heading == "Practice game 2 of 2" and "What happened" in person.text
        person.next()
        assert person.heading == "Game 1 of 2"
        person.play_all().survey(human="4", device="A phone", why="-")
        assert person.heading == "Thank you"
        browser = logged_in(server).browser
        (row,) = browser.get("/experimenter/study/people.json").json()
        assert row["state"] == "done" and len(row["episodes"]) == len(row["rounds"]) == 2
        lines = browser.get("/experimenter/study/episodes.jsonl").text.splitlines()
        assert len(lines) == 2 and "practice" not in "".join(lines)
