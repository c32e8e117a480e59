"""Studies as Inspect tasks with one sample per episode; the stored episode is the canonical
record."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai._util.package import get_installed_package_name
from inspect_ai.dataset import Sample
from inspect_ai.log import transcript
from inspect_ai.model import get_model
from inspect_ai.scorer import (
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    mean,
    metric,
    scorer,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError, sample_limits

from sally import store
from sally.adapters.inspect.model import InspectModel
from sally.adapters.inspect.reach import hide_key, provider_of
from sally.adapters.inspect.session import Session, session_of
from sally.adapters.trainers.text.splits import usual_player
from sally.analysis.decisions.costs import costs_by_turn
from sally.core.errors import BadInput, unknown
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup, from_line, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Player
from sally.core.prompt.model import Model
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.metric import Metric
from sally.frames.measured import doing_metric
from sally.frames.replays import played
from sally.frames.rows import decision_rows
from sally.players.language import LANGUAGE, patient
from sally.runner.budget import Metered
from sally.runner.config import in_process
from sally.runner.gates import forget_refusals, hopeless
from sally.runner.local import manifest, orders, play_within, reached, used_by
from sally.runner.models import OPEN, models_of, with_model
from sally.runner.orders import Order
from sally.runner.rates import turnstile_of
from sally.runner.routing import Routed, preferred
from sally.runner.seating import players_of

COMPLETED = "completed"
STEP = ("turn", "seat", "what", "probe", "label", "said", "truth", "right", "reason")
NO_MODEL = "none/none"  # Inspect's name for a missing model


def task_of(name: str, wanted: Sequence[Order], out: str) -> Task:
    """Return a task that plays these episodes and stores each of them in the store `out`."""
    samples = [
        Sample(
            id=id,
            input=first_page(setup),
            metadata={"setup": msgspec.json.encode(setup).decode(), "cell": cell},
        )
        for id, cell, setup in wanted
    ]
    return Task(
        name=name,
        dataset=samples,
        solver=play_episode(out),
        scorer=[*named_scorers(wanted), all_metrics(score_keys(wanted))],
        continue_on_fail=True,
    )


def first_page(setup: Setup) -> str:
    """Return the first prompt of the first model seat, for Inspect's viewer."""
    match: Match[Any, Any, Any] = Match(registry.game(setup.instance.game), setup)
    for seat, who in setup.lineup.items():
        if who.player == LANGUAGE:
            return match.context(Seat(seat)).words.rules(Seat(seat))
    return setup.instance.game


def score_keys(wanted: Sequence[Order]) -> list[str]:
    """Return all score keys of these episodes; Inspect needs the same keys in every sample."""
    found = {COMPLETED: None}
    known: set[tuple[str, tuple[str, ...]]] = set()
    for _, _, setup in wanted:
        seats = tuple(seat for seat, who in setup.lineup.items() if who.player == LANGUAGE)
        if (setup.instance.game, seats) not in known:
            known.add((setup.instance.game, seats))
            for seat in seats:
                found |= {f"{seat}.{name}": None for name in headlines(setup.instance.game)}
    return list(found)


def headlines(game: str) -> dict[str, Metric]:
    """Return the headline metrics of a game."""
    return {
        name: m for name, m in registry.metrics(registry.family(game).name).items() if m.headline
    }


@solver
def play_episode(out: str) -> Solver:
    """Return a solver that plays one episode and stores it; an episode that exceeds a limit is
    censored."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        session = session_of(out)
        if session.meter.spent or hopeless():
            return state  # not started: nothing is stored
        setup = msgspec.json.decode(state.metadata["setup"], type=Setup)
        match: Match[Any, Any, Any] = Match(registry.game(setup.instance.game), setup)
        players = seated(match, str(state.sample_id), session)
        try:
            play = Driver(match, players).arun()
            await play_within(match, play, session.config.limits)
        except LimitExceededError as why:
            _cut(match, "limit", f"{why.type} limit")
            raise
        except asyncio.CancelledError:
            late = _out_of_time()
            _cut(match, "limit" if late else "fault", "time limit" if late else "cancelled")
            raise
        except BaseException as why:
            _cut(match, "fault", f"the episode broke off: {type(why).__name__}")
            raise
        finally:
            episode = match.episode(state.metadata["cell"], used_by(players))
            # One text, because Inspect compares and copies nested values in Python.
            state.store.set("episode", to_line(episode).decode())
            session.keep(episode)
        if episode.payoffs is not None:
            transcript().info(steps(episode), source="decisions, with what each cost")
        return state

    return solve


def steps(episode: Episode) -> list[Any]:
    """Return the decisions of an episode for Inspect's transcript, with their costs if known."""
    costs = costs_by_turn(episode)
    found = []
    for row in decision_rows(played(episode)):
        cost = costs.get((row["turn"], row["seat"])) if row["what"] != "report" else None
        shown = {key: row.get(key) for key in STEP if row.get(key) is not None}
        found.append(shown if cost is None else {**shown, "cost": cost.loss})
    made: list[Any] = msgspec.json.decode(msgspec.json.encode(found))
    return made


def _cut(match: Match[Any, Any, Any], cause: str, detail: str) -> None:
    if not match.over:
        match.censor(cause, detail)


def _out_of_time() -> bool:
    left = sample_limits().time.remaining
    return left is not None and left <= 0


def seated(match: Match[Any, Any, Any], id: str, session: Session) -> dict[str, Player[Any, Any]]:
    """Return the players of a match, with models reached through Inspect."""
    meter, limits = session.meter.of_episode(), session.config.limits

    def model(seat: str, name: str) -> Model:
        scope = {"episode": id, "seat": seat} if session.cache else None
        turnstile = turnstile_of(session.config, name)

        def at(server: str | None) -> Model:
            reached = provider(seat, name, session, server)
            return InspectModel(reached, limits, scope, turnstile)

        servers = session.config.entry(name).base_urls
        found = Routed(preferred(servers, id), at) if servers else at(None)
        return Metered(found, meter, name)

    players = players_of(match, reached(match.setup.lineup, model))
    return {seat: patient(player, limits.call_retries) for seat, player in players.items()}


def provider(seat: str, name: str, session: Session, server: str | None = None) -> Any:
    """Return the model that Inspect assigns to the role `seat`, if it is called `name` and no
    server is given; else return a new model called `name`."""
    given = get_model(role=seat)
    if str(given) == name and server is None:
        hide_key(given.api)
        return given
    return provider_of(f"sally/{name}" if in_process(name) else name, session.config, server)


def _registered(name: str, make: Callable[..., Any]) -> str:
    """Return the name to register something under, so that it is found as `sally/NAME`.

    Inspect prefixes the package name, except in a working copy with its own metadata, which it
    takes for loose files.
    """
    return name if get_installed_package_name(make) else f"sally/{name}"


def _scorer(name: str, metrics: Any, make: Callable[..., Scorer]) -> Callable[..., Scorer]:
    """Register a scorer as `sally/NAME`, and under its bare name, by which logs refer to it."""
    scorer(metrics=metrics, name=_registered(name, make))(make)
    return scorer(metrics=metrics, name=name)(make)


def _all_metrics(keys: Sequence[str]) -> Scorer:
    """Return a scorer of the headline metrics of every seat with a language model; a metric without
    a value is NaN."""
    blank = dict.fromkeys(keys, math.nan)  # Inspect treats NaN as not scored

    async def score(state: TaskState, target: Target) -> Score:
        line = state.store.get("episode")
        if line is None:
            return Score(value={**blank}, explanation="not begun: the run had to stop")
        episode = from_line(line.encode())
        values = {COMPLETED: float(episode.payoffs is not None), **measured(episode)}
        return Score(value={**blank, **values}, explanation=f"episode {episode.id}")

    return score


all_metrics = _scorer("all_metrics", {"*": [mean()]}, _all_metrics)


def measured(episode: Episode) -> dict[str, float]:
    """Return the metrics of a finished episode by seat and name."""
    if episode.payoffs is None:
        return {}
    whole = played(episode)
    found = {
        f"{seat}.{name}": metric.measure(whole, Seat(seat))
        for seat, who in episode.setup.lineup.items()
        if who.player == LANGUAGE
        for name, metric in headlines(whole.spec.name).items()
    }
    return {name: value for name, value in found.items() if value is not None}


NAMED: Mapping[str, str] = {"knowing": "tom_percent", "acting": "action_consistency"}
UNITS: Mapping[str, float] = {"knowing": 0.01}  # a share like the others, not percent


@metric
def mean_by_seat() -> Any:
    """Return the mean of a score, or of each value of a score by seat; NaN is not counted."""

    def means(scores: list[SampleScore]) -> Value:
        known: dict[str, list[float]] = {}
        for each in scores:
            value = each.score.value
            named = value if isinstance(value, Mapping) else {"mean": each.score.as_float()}
            for name, number in named.items():
                found = known.setdefault(name, [])
                if isinstance(number, int | float) and not math.isnan(number):
                    found.append(number)
        return {name: math.fsum(v) / len(v) if v else math.nan for name, v in known.items()}

    return means


def named_scorer(name: str) -> Callable[..., Scorer]:
    """Return the scorer `sally/NAME`: one value, or one per seat under `SEAT.NAME`.

    The viewer uses these keys as column headings, so the seat alone would not distinguish the
    scorers. Without `seats`, the seats of models in the sample are scored.
    """

    def make(seats: str | Sequence[str] = ()) -> Scorer:
        asked = [seats] if isinstance(seats, str) else list(seats)

        async def score(state: TaskState, target: Target) -> Score:
            lineup = msgspec.json.decode(state.metadata["setup"], type=Setup).lineup
            if asked and not lineup.keys() & set(asked):  # the cells of a study may differ in seats
                raise PrerequisiteError(str(unknown("seat of the episode", asked[0], lineup)))
            scored = asked or _model_seats([lineup])
            values = _values(state, name, scored)
            if len(scored) == 1:
                return Score(value=values[scored[0]], explanation=f"{name} of {scored[0]}")
            named = {f"{seat}.{name}": value for seat, value in values.items()}
            return Score(value=named, explanation=f"{name} by seat")

        return score

    return _scorer(name, [mean_by_seat()], make)


SCORERS = {
    name: named_scorer(name) for name in ("knowing", "acting", "doing", "regret", "forfeits")
}


def named_scorers(wanted: Sequence[Order]) -> list[Scorer]:
    """Return the five scorers `knowing`, `acting`, `doing`, `regret` and `forfeits`, which score
    the seats taken by language models."""
    seats = _model_seats(setup.lineup for _, _, setup in wanted)
    return [made(seats) for made in SCORERS.values()]


def _model_seats(lineups: Iterable[Mapping[str, PlayerSpec]]) -> list[str]:
    """Return the seats of language models in these lineups."""
    found = (seat for lineup in lineups for seat, who in lineup.items() if who.player == LANGUAGE)
    return list(dict.fromkeys(found))


def _values(state: TaskState, name: str, seats: Sequence[str]) -> dict[str, float]:
    """Return a scorer's value for each seat; a missing value is NaN, which Inspect ignores."""
    line = state.store.get("episode")
    values = dict.fromkeys(seats, math.nan)
    if line is None or (episode := from_line(line.encode())).payoffs is None:
        return values
    whole = played(episode)
    for seat in seats:
        if (metric := _metric_of(name, whole.spec, seat)) is not None:
            found = metric.measure(whole, Seat(seat))
            values[seat] = math.nan if found is None else found * UNITS.get(name, 1.0)
    return values


def _metric_of(name: str, spec: GameSpec[Any, Any, Any], seat: str) -> Metric | None:
    """Return the game's metric for a scorer, or None if the game has no such metric."""
    known: Mapping[str, Metric] = registry.metrics(spec.family or spec.name)
    if name == "doing":
        return doing_metric(spec, seat)
    if name == "regret":
        losses = [m for key, m in known.items() if key.endswith("regret")]
        return next((m for m in losses if m.headline), losses[0] if losses else None)
    return known.get(NAMED.get(name, name))


# --- tasks by name ------------------------------------------------------------------------------


def study_task(name: str) -> Callable[..., Task]:
    """Return the task of a study for `inspect eval sally/NAME`."""

    def make(limit: int = 0, out: str = f"out/{name}") -> Task:
        with told_by_inspect():
            if not isinstance(limit, int) or limit < 0:
                raise BadInput(f"-T limit takes a number of episodes per lineup, not {limit!r}.")
            return _task(name, registry.study(name), out, limit or None)

    make.__name__ = name
    return task(name=_registered(name, make))(make)


@contextmanager
def told_by_inspect() -> Iterator[None]:
    """Turn BadInput into an error that Inspect prints without a traceback."""
    try:
        yield
    except BadInput as why:
        raise PrerequisiteError(str(why)) from None


def _task(name: str, study: Study, out: str, limit: int | None = None) -> Task:
    """Return the task of a study, with Inspect's models in its open seats."""
    filled = for_roles(study)
    wanted = orders(filled, limit)
    store.claim(Path(out), manifest(filled), filled)
    forget_refusals()
    return task_of(name, wanted, out)


def for_roles(study: Study) -> Study:
    """Return the study with Inspect's models in its open seats: the model of the role, or the
    default model."""
    if OPEN not in models_of(study):
        return study
    seats = {seat for cell in study.cells for lineup in cell.lineups for seat in lineup}
    chosen = {seat: str(get_model(role=seat)) for seat in seats}
    if NO_MODEL in chosen.values():
        raise BadInput(f"{study.name} has open seats; name a model.")
    return with_model(study, chosen)


# --- one game as a task -------------------------------------------------------------------------


def game_task(game: str, name: str) -> Callable[..., Task]:
    """Return the task of a game for `inspect eval sally/rps -T partner=tit_for_tat`."""

    def make(
        partner: str = "",
        seats: str = "",
        strategy: str = "qa",
        probes: str = "",
        episodes: int = 10,
        seed: int = 1,
        out: str = f"out/inspect_{game}",
        **params: Any,
    ) -> Task:
        with told_by_inspect():
            study = game_study(game, partner, seats, strategy, probes, episodes, seed, params)
            return _task(name, study, out)

    make.__name__ = name
    return task(name=_registered(name, make))(make)


def game_study(
    game: str,
    partner: str,
    seats: str,
    strategy: str,
    probes: str,
    episodes: int,
    seed: int,
    params: Mapping[str, Any],
) -> Study:
    """Return a study with one cell: models in `seats`, the named or the usual player in the other
    seats.

    Args:
        game: Name of the game.
        partner: Player of the other seats; by default the usual player of each seat.
        seats: Seats of models, separated by commas; by default the first seat.
        strategy: Prompting strategy of the models.
        probes: Probes asked in the models' seats, separated by commas; "none" asks none; by default
            those whose answers can be compared with the seat's moves.
        episodes: Number of episodes.
        seed: Seed of the study.
        params: Parameters of the game.

    Raises:
        BadInput: If a name or value is wrong.
    """
    if not isinstance(episodes, int) or episodes < 1:
        raise BadInput(f"-T episodes takes a number of at least 1, not {episodes!r}.")
    spec = registry.game(game)
    rules = spec.build(params)
    known = [str(seat) for seat in rules.seats if seat not in spec.occupants]
    models = [part.strip() for part in seats.split(",") if part.strip()] or known[:1]
    for seat in models:
        if seat not in known:
            raise unknown(f"seat of {game}", seat, known)
    others = {
        seat: PlayerSpec(partner) if partner else usual_player(spec, rules, Seat(seat))
        for seat in known
        if seat not in models
    }
    asked = () if probes == "none" else tuple(p.strip() for p in probes.split(",") if p.strip())
    if not probes:
        asked = spec.measured.acts_on or tuple(probe.name for probe in spec.probes[:1])
    for probe in asked:
        spec.probe(probe)
    lineup = {seat: PlayerSpec(LANGUAGE, {"strategy": strategy}) for seat in models} | others
    cell = Cell(
        game,
        (Instance(game, game, dict(params)),),
        ({seat: lineup[seat] for seat in known},),
        arms=dict.fromkeys(models, asked) if asked else {},
        repeats=episodes,
    )
    return Study(f"inspect_{game}", f"{game} as an Inspect task", (cell,), seed=seed)
