"""A language model as a player: a strategy turns the game's texts into prompts, and replies into
actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sally.core.errors import BadInput, join_names, unknown
from sally.core.log.events import PlayerSpec
from sally.core.match.player import Decision, Fault, Forfeit, PlayerKind, Turn
from sally.core.match.strategy import PromptContext, Run, Strategy, StrategyResult
from sally.core.prompt.model import (
    CannotConstrain,
    CannotScore,
    Model,
    Settings,
    can_constrain,
    read_settings,
)
from sally.core.prompt.page_layout import AS_IT_IS, Harness, read_harness
from sally.core.registry import packs, registry
from sally.core.reply.reader import restates_answer
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.probe import ProbeReport
from sally.core.rules.words import Pack, check_pack
from sally.players.calls import Caller, Exchanges, answer_with_model, ask_until_readable

LANGUAGE = "language"  # the name of this kind of player
OPEN = "model"  # placeholder in a study for the model named at the run


def uses_model(player: PlayerSpec) -> bool:
    """Return whether a player calls a model: a language player, or one that names a model."""
    return player.player == LANGUAGE or "model" in player.params


def patient(player: Any, retries: int) -> Any:
    """Return the player; if it calls a model, it retries failed calls up to `retries` times."""
    if not isinstance(player, msgspec.Struct):
        return player
    if "call_retries" in player.__struct_fields__:
        return msgspec.structs.replace(player, call_retries=retries)
    inner = getattr(player, "inner", None)
    return msgspec.structs.replace(player, inner=patient(inner, retries)) if inner else player


class ModelPlayer(msgspec.Struct, frozen=True):
    """Base class of players that await a model for the requests that `answering` yields."""

    async def decide(self, turn: Turn) -> Any:
        """Answer an ask for a move."""
        return await answer_with_model(self, turn)  # type: ignore[arg-type]


class LanguagePlayer(ModelPlayer, frozen=True):
    """A model with a strategy. It has settings but no state, so many matches can share it."""

    model: Model
    act: Run
    answer: Run
    settings: Settings = Settings()
    call_retries: int = 2
    texts: Mapping[str, str] = msgspec.field(default_factory=dict)  # the strategy's texts
    pack: str = ""  # a words pack by reference
    pack_texts: Mapping[str, str] = msgspec.field(default_factory=dict)
    harness: Harness = AS_IT_IS

    @property
    def as_schema(self) -> bool:
        """Whether answers are JSON objects constrained to a schema."""
        return self.settings.format == "schema"

    async def report(self, turn: Turn) -> ProbeReport | Fault:
        """Answer a probe."""
        report: ProbeReport | Fault = await self.decide(turn)
        return report

    async def answering(
        self, turn: Turn, exchanges: Exchanges
    ) -> Decision[Any] | Forfeit | ProbeReport | Fault:
        """Answer an ask, yielding each request for a model; after an unreadable reply the model is
        asked again."""
        caller = Caller(self.model, self.settings, turn, self.call_retries, exchanges)
        run, question = (self.act if turn.question is None else self.answer), turn.question
        context = turn.context.in_words(self.pack, self.pack_texts)
        prompt = PromptContext(turn, self.texts, context, self.harness, self.as_schema)
        result = StrategyResult("")

        async def attempt() -> Any:
            nonlocal result
            result = await run(prompt, caller)
            return prompt.read(result)

        outcome = await ask_until_readable(
            caller, attempt, context.retries, lambda problem: prompt.say("retry", why=problem)
        )
        if isinstance(outcome, Fault):
            return outcome
        if isinstance(outcome, Forfeit):
            if question is None:
                return msgspec.structs.replace(outcome, memory=result.memory)
            return ProbeReport(None, None, outcome.reply, outcome.tries)
        if exchanges and not self.as_schema and restates_answer(result.text, prompt.label):
            exchanges[-1].detail = "restated"  # the last of several answers counts
        value, tries = outcome.value, outcome.tries
        if question is None:
            return Decision(value, result.memory, result.text, tries, (), result.foreseen)
        return ProbeReport(value.value, value.odds, result.text, tries)


def _language(
    spec: GameSpec,
    game: Game,
    seat: Seat,
    model: str | Model = "embedded",
    strategy: str = "qa",
    settings: Mapping[str, Any] | None = None,
    with_: Mapping[str, Any] | None = None,
    pack: str = "",
    harness: Mapping[str, Any] | None = None,
) -> LanguagePlayer:
    for name, value in {"with_": with_, "settings": settings, "harness": harness}.items():
        if not isinstance(value, Mapping | None):
            raise BadInput(f"{name} must be a table of names and values, not {value!r}.")
    chosen = strategy_named(strategy)
    params = dict(with_ or {})
    for name, value in params.items():
        if name not in chosen.params:
            raise unknown(f"parameter of strategy {strategy}", name, chosen.params)
        if type(value) is not type(default := chosen.params[name]):
            kind = {bool: "true or false", int: "a whole number"}[type(default)]
            raise BadInput(f"{name} of strategy {strategy} must be {kind}, not {value!r}.")
    model_settings = read_settings(settings or {}, f"seat {seat!r}")
    if model == OPEN:
        raise BadInput(f"Seat {seat!r} has a language player; name its model, such as embedded.")
    player_model = registry.model(model) if isinstance(model, str) else model
    if "scoring" in chosen.needs and not getattr(player_model, "can_score", False):
        scoring = sorted(
            n for n, s in registry.entries("strategies").items() if "scoring" in s.needs
        )
        left_out = " ".join(f"--without {name}" for name in scoring)
        raise BadInput(
            f"{str(CannotScore(player_model.name)).rstrip('.')}; `sally run STUDY {left_out}` "
            f"leaves out "
            f"the strategies that score."
        )
    if model_settings.format == "schema":
        _check_constrained(spec, chosen, player_model, harness)
    act, answer = chosen.make(**params)
    worded = checked_pack(pack, spec).texts if pack else {}
    layout = read_harness(harness) if harness else AS_IT_IS
    return LanguagePlayer(
        player_model, act, answer, model_settings, 2, chosen.texts, pack, worded, layout
    )


def _check_constrained(
    spec: GameSpec,
    strategy: Strategy,
    model: Model,
    harness: Mapping[str, Any] | None,
) -> None:
    """Raise BadInput if the format is `schema` and answers cannot be constrained to a schema."""
    if not can_constrain(model):
        raise BadInput(str(CannotConstrain(model.name)))
    if not strategy.schema and "scoring" not in strategy.needs:  # a scored name is never guessed
        able = sorted(n for n, s in registry.entries("strategies").items() if s.schema)
        raise BadInput(
            f"format = schema does not fit strategy {strategy.name}, whose replies hold more than "
            f"an answer; use format = line, or one of {join_names(able, 'and')}."
        )
    if spec.tools:
        raise BadInput(
            f"format = schema does not fit {spec.name}, whose players look things up with tools; "
            "use format = line."
        )
    if {"answer", "options"} & set(harness or ()):
        raise BadInput(
            "format = schema cannot be combined with a harness that sets answer or options; "
            "remove one of them."
        )


def checked_pack(name: str, spec: GameSpec) -> Pack:
    """Return a words pack from any source after checking that it fits the texts of the game."""
    if not isinstance(name, str):
        raise BadInput(f"pack must be the name of a words pack, not {name!r}.")
    words_pack = packs.find(name)
    if words_pack.game not in (spec.name, spec.family):
        raise BadInput(
            f"Words pack {words_pack.name!r} is for {words_pack.game}, not for {spec.name}."
        )
    return check_pack(words_pack, {**every_strategy_text(), **spec.texts})


def every_strategy_text() -> dict[str, str]:
    """Return the texts of all strategies, so that one pack can serve them all."""
    texts: dict[str, str] = {}
    for strategy in registry.entries("strategies").values():
        texts |= strategy.texts
    return texts


def strategy_named(name: str) -> Strategy:
    if not isinstance(name, str):
        raise BadInput(f"strategy must be the name of a strategy, not {name!r}.")
    strategy: Strategy = registry.pick("strategy", name, registry.entries("strategies"))
    return strategy


PLAYERS = {
    LANGUAGE: PlayerKind(
        LANGUAGE,
        "a language model under a prompting strategy",
        _language,
        {
            "model": "embedded",
            "strategy": "qa",
            "settings": None,
            "with_": None,
            "pack": "",
            "harness": None,
        },
    )
}
