"""`format = schema`: every game's answers as JSON objects, their record, and who is refused."""

from __future__ import annotations

import asyncio
import json
from itertools import islice
from typing import Any

import msgspec
import pytest

from sally.core.errors import BadInput, Unreadable
from sally.core.match.player import Decision
from sally.core.match.strategy import PromptContext, StrategyResult
from sally.core.prompt.answer_schema import field_name, of_report
from sally.core.prompt.model import SchemaSettings, Settings
from sally.core.registry import registry
from sally.core.registry.study import instance, player_spec
from sally.core.rules.chance import Stream
from sally.core.rules.menu import example, is_finite
from sally.core.rules.probe import ProbeReport, Question
from sally.models.stub import Scripted
from sally.players.language import LanguagePlayer
from sally.runner.models import apply_settings
from sally.runner.seating import seat_player, versions_of
from tests.table import asked_in_turn, every, match_of, spec_of, table


def valued(turn: Any, action: Any) -> Any:
    """A move as the value of its field."""
    words = turn.context.words
    if not is_finite(turn.options) or words.scale(turn.options) is not None:
        return msgspec.to_builtins(action)
    return words.menu(turn.options)[turn.options.index(action)]


def report(question: Question, names: tuple[str, ...]) -> Any:
    """A good answer to a probe as the value of its field."""
    if question.scale is not None:
        return question.scale.low
    if question.kind == "choice":
        return names[-1]
    share = 100 / len(names) if question.kind == "odds" else question.high
    return dict.fromkeys(names, share)


@pytest.mark.parametrize("name", every())
def test_every_move_and_report_is_read_back_from_its_object(name: str) -> None:
    match = match_of(table(name))
    for turn, _ in islice(asked_in_turn(match), 8):
        if turn.seat in match.game.helpers or turn.question is not None:
            continue
        prompt = PromptContext(turn, as_schema=True)
        field, action = field_name(prompt.label), example(turn.options, Stream(turn.number))
        schema = json.loads(prompt.schema("Thoughts"))
        assert list(schema["properties"]) == ["thoughts", field]
        assert json.dumps(
            schema["properties"][field], separators=(",", ":"), ensure_ascii=False
        ) in (prompt.format)
        fields = {"thoughts": "Option: no", field: valued(turn, action)}
        reply, before = json.dumps(fields), ("Thoughts",)
        assert prompt.read(StrategyResult(f"<think>{{</think>{reply}", before=before)) == action
        odd = [fields | {field: value} for value in (["no", {}], None)]
        odd += [{**fields, "sure": True}, {field: fields[field]}, {}]  # too much, or too little
        for wrong in ("", "Option: J", f"{reply}{reply}", *map(json.dumps, odd)):
            with pytest.raises(Unreadable):
                prompt.read(StrategyResult(wrong, before=before))
        for probe in (
            current_probe
            for current_probe in spec_of(name).probes
            if turn.seat in current_probe.seats
        ):
            for question in probe.asks(match.game, turn.view, turn.seat):
                asked_prompt_context = PromptContext(
                    msgspec.structs.replace(turn, question=question), as_schema=True
                )
                value = report(question, asked_prompt_context.names)
                result = asked_prompt_context.read(
                    json.dumps({field_name(asked_prompt_context.label): value})
                )
                assert isinstance(result, ProbeReport) and result.value is not None


def obedient(messages: Any, settings: Settings) -> str:
    """A model that keeps to the schema of a call: the first name of every list."""
    assert isinstance(settings, SchemaSettings) and settings.schema in messages[-1].text
    expected_properties = json.loads(settings.schema)["properties"]
    replies_by_seat = {
        name: expected_property.get("enum", ["because"])[0]
        for name, expected_property in expected_properties.items()
    }
    return json.dumps(replies_by_seat)


def player(strategy: str, **settings: Any) -> LanguagePlayer:
    spec = spec_of("ipd")
    actual_spec = player_spec(
        "language", model=Scripted(obedient), strategy=strategy, settings={"format": "schema"}
    )
    actual_player = seat_player(spec, match_of(table("ipd")).game, "agent", actual_spec)
    assert isinstance(actual_player, LanguagePlayer)
    return actual_player


@pytest.mark.parametrize(
    "strategy", sorted(n for n, s in registry.entries("strategies").items() if s.schema)
)
def test_strategy_constrains_answers_to_schema_and_records_it(strategy: str) -> None:
    turn = next(turn for turn, _ in asked_in_turn(match_of(table("ipd"))) if turn.seat == "agent")
    if strategy in ("s2a", "s2a_cot", "reflexion"):
        pytest.skip("it writes a text in a call of its own first")
    answer = asyncio.run(player(strategy).decide(turn))
    assert isinstance(answer, Decision) and answer.action == 0
    settings = answer.calls[-1].settings
    assert settings["format"] == "schema" and json.loads(settings["schema"])["required"][-1] == (
        "option"
    )


def test_players_without_schema_support_are_refused_with_one_message() -> None:
    class Loose(Scripted):
        can_constrain = False

    spec, game = spec_of("ipd"), match_of(table("ipd")).game
    held = {"format": "schema"}
    for params, reason in (
        ({"model": Loose(obedient)}, "cannot be held to a JSON schema; use format = line"),
        ({"strategy": "tom_cot"}, "strategy tom_cot, whose replies hold more than an answer"),
        ({"harness": {"answer": "json"}}, "cannot be combined with a harness"),
    ):
        given_fields = {"model": Scripted(obedient), "strategy": "qa", **params}
        actual_spec = player_spec("language", settings=held, **given_fields)
        with pytest.raises(BadInput, match=reason):
            seat_player(spec, game, "agent", actual_spec)
    actual_spec = player_spec("language", model=Scripted(obedient), settings={"format": "xml"})
    with pytest.raises(BadInput, match="format must be line or schema, not 'xml'"):
        seat_player(spec, game, "agent", actual_spec)


def test_line_format_is_the_default_and_changes_nothing() -> None:
    assert Settings(format="line").canonical() == Settings().canonical() == "{}"
    turn = next(turn for turn, _ in asked_in_turn(match_of(table("ipd"))) if turn.seat == "agent")
    assert PromptContext(turn).schema() == "" and "Option: <J or F>" in PromptContext(turn).format
    spec = spec_of("ipd")
    line, version = (
        versions_of(spec, player_spec("language", settings=settings))
        for settings in ({}, {"format": "schema"})
    )
    assert version == {**line, "schema": 1}


def test_explicit_line_format_does_not_change_episode_ids() -> None:
    from sally.core.registry.study import Cell, Study
    from sally.runner.config import Config

    lineup = {"agent": player_spec("language"), "partner": player_spec("random")}
    study = Study("s", "", (Cell("c", (instance("ipd", rounds=2),), (lineup,)),))
    plain, _ = apply_settings(study, Config(), {}, "embedded")
    line, _ = apply_settings(study, Config(), {"format": "line"}, "embedded")
    held_study, _ = apply_settings(study, Config(), {"format": "schema"}, "embedded")
    assert plain == line != held_study


def test_odds_are_asked_for_by_name() -> None:
    odds = Question("p", "odds", ("a", "b"))
    assert of_report(odds, ("A", "B"))["required"] == ["A", "B"]
