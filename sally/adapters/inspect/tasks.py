"""Studies as Inspect tasks with one sample per episode; the stored episode is the canonical
record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError, sample_limits

from sally import store
from sally.adapters.inspect.game_transcript import GameTranscript
from sally.adapters.inspect.model import InspectModel
from sally.adapters.inspect.reach import hide_key, provider_of
from sally.adapters.inspect.scorers import (
    all_metrics,
    model_seats,
    named_scorers,
    registered_name,
    score_keys,
)
from sally.adapters.inspect.session import Session, session_of
from sally.adapters.trainers.text.splits import usual_player
from sally.core.errors import BadInput, join_names, unknown
from sally.core.log.events import (
    Censored,
    Episode,
    Instance,
    PlayerSpec,
    Setup,
    episode_id,
    to_line,
)
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Player
from sally.core.prompt.model import Model
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study
from sally.core.rules.chance import derived_seed
from sally.core.rules.game import Seat
from sally.players.language import LANGUAGE, patient
from sally.runner.budget import Metered
from sally.runner.config import in_process
from sally.runner.gates import forget_answers, forget_refusals, hopeless, record_answers
from sally.runner.local import manifest, orders, play_within, used_by, with_models
from sally.runner.models import open_seats, with_model
from sally.runner.orders import Order
from sally.runner.rates import turnstile_of
from sally.runner.routing import Routed, order_servers
from sally.runner.seating import players_of

NO_MODEL = "none/none"  # Inspect's name for a missing model


def task_of(name: str, orders: Sequence[Order], out: str, epochs: Epochs | None = None) -> Task:
    """Return a task that plays these episodes and stores each of them in the store `out`."""
    samples = [
        Sample(
            id=id,
            input=first_page(setup),
            metadata={
                "setup": msgspec.json.encode(setup).decode(),
                "cell": cell,
                **({} if epochs is None else {"epochs": msgspec.to_builtins(epochs)}),
            },
        )
        for id, cell, setup in orders
    ]
    return Task(
        name=name,
        dataset=samples,
        solver=play_episode(out),
        scorer=[*named_scorers(orders), all_metrics(score_keys(orders))],
        continue_on_fail=True,
    )


class Epochs(msgspec.Struct, frozen=True):
    """How epochs continue the repeats of a study: the study's seed and its largest number of
    repeats."""

    seed: int
    repeats: int

    @staticmethod
    def of_study(study: Study) -> Epochs:
        """Return the continuation of a study."""
        return Epochs(study.seed, max(cell.repeats for cell in study.cells))

    def setup(self, setup: Setup, epoch: int) -> Setup:
        """Return the setup of an epoch, from 1: a further repeat, with a seed and an id of its
        own."""
        if epoch == 1:
            return setup
        repeat = setup.repeat + (epoch - 1) * self.repeats
        seed = derived_seed(self.seed, setup.instance.id, repeat)
        return msgspec.structs.replace(setup, seed=seed, repeat=repeat)


def setup_of_epoch(state: TaskState, setup: Setup) -> Setup:
    """Return the setup that a sample plays in its epoch."""
    epochs = state.metadata.get("epochs")
    return setup if epochs is None else msgspec.convert(epochs, Epochs).setup(setup, state.epoch)


def first_page(setup: Setup) -> str:
    """Return the first prompt of the first model seat, for Inspect's viewer."""
    match: Match = Match(registry.game(setup.instance.game), setup)
    for seat in model_seats(setup.lineup):
        return match.context(Seat(seat)).words.rules(Seat(seat))
    return setup.instance.game


@solver
def play_episode(out: str) -> Solver:
    """Return a solver that plays one episode and stores it; an episode that exceeds a limit is
    censored."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        session = session_of(out)
        if session.meter.spent or hopeless():
            return state  # not started: nothing is stored
        setup = msgspec.json.decode(state.metadata["setup"], type=Setup)

        def keep(episode: Episode) -> None:
            # One text, because Inspect compares and copies nested values in Python.
            state.store.set("episode", to_line(episode).decode())

        await play_setup(setup_of_epoch(state, setup), state.metadata["cell"], session, keep)
        return state

    return solve


async def play_setup(
    setup: Setup, cell: str, session: Session, keep: Callable[[Episode], None]
) -> Episode:
    """Play one episode, store it, and describe it in Inspect's transcript.

    `keep` is called with the episode even if a limit or a fault censored it.
    """
    match: Match = Match(registry.game(setup.instance.game), setup)
    players = match_players(match, episode_id(setup), session)
    game_transcript = GameTranscript(match)
    driver = Driver(match, players, on_answer=game_transcript.write_turns)
    try:
        await play_within(match, driver.arun(), session.config.limits)
    except LimitExceededError as error:
        _cut(match, "limit", f"{error.type} limit")
        raise
    except asyncio.CancelledError:
        late = _out_of_time()
        _cut(match, "limit" if late else "fault", "time limit" if late else "cancelled")
        raise
    except BaseException as error:
        _cut(match, "fault", f"the episode broke off: {type(error).__name__}")
        raise
    finally:
        episode = match.episode(cell, used_by(players))
        record_answers(episode)
        keep(episode)
        session.keep(episode)
    if session.is_inspects and store.to_run_again(episode):
        assert isinstance(episode.end, Censored)
        raise RuntimeError(f"the episode was cut off: {episode.end.detail}")  # for eval-retry
    if episode.payoffs is not None:
        game_transcript.write_end(episode)
    return episode


def _cut(match: Match, cause: str, detail: str) -> None:
    if not match.over:
        match.censor(cause, detail)


def _out_of_time() -> bool:
    seconds_left = sample_limits().time.remaining
    return seconds_left is not None and seconds_left <= 0


def match_players(match: Match, id: str, session: Session) -> dict[str, Player]:
    """Return the players of a match, with models reached through Inspect."""
    meter, limits = session.meter.of_episode(), session.config.limits

    def model(seat: str, name: str) -> Model:
        scope = {"episode": id, "seat": seat} if session.cache else None
        turnstile = turnstile_of(session.config, name)

        def model_at(server: str | None) -> Model:
            reached = provider(seat, name, session, server)
            return InspectModel(reached, limits, scope, turnstile)

        servers = session.config.entry(name).base_urls
        reached_model = Routed(order_servers(servers, id), model_at) if servers else model_at(None)
        return Metered(reached_model, meter, name)

    players = players_of(match, with_models(match.setup.lineup, model))
    return {seat: patient(player, limits.call_retries) for seat, player in players.items()}


def provider(seat: str, name: str, session: Session, server: str | None = None) -> Any:
    """Return the model that Inspect assigns to the role `seat`, if it is called `name` and no
    server is given; else return a new model called `name`."""
    role_model = get_model(role=seat)
    if str(role_model) == name and server is None:
        hide_key(role_model.api)
        return role_model
    return provider_of(f"sally/{name}" if in_process(name) else name, session.config, server)


# --- tasks by name ------------------------------------------------------------------------------


def study_task(name: str) -> Callable[..., Task]:
    """Return the task of a study for `inspect eval sally/NAME`."""

    def make(limit: int = 0, out: str = f"out/{name}") -> Task:
        with told_by_inspect():
            if not isinstance(limit, int) or limit < 0:
                raise BadInput(f"-T limit takes a number of episodes per cell, not {limit!r}.")
            return _task(name, registry.study(name), out, limit or None)

    make.__name__ = name
    return task(name=registered_name(name, make))(make)


@contextmanager
def told_by_inspect() -> Iterator[None]:
    """Turn BadInput into an error that Inspect prints without a traceback."""
    try:
        yield
    except BadInput as error:
        raise PrerequisiteError(str(error)) from None


def _task(name: str, study: Study, out: str, limit: int | None = None) -> Task:
    """Return the task of a study, with Inspect's models in its open seats."""
    filled = claim_store(study, out)
    return task_of(name, orders(filled, limit), out, Epochs.of_study(filled))


def claim_store(study: Study, out: str) -> Study:
    """Return the study with Inspect's models in its open seats, after claiming its store."""
    filled = for_roles(study)
    store.claim(Path(out), manifest(filled), filled)
    forget_refusals()
    forget_answers()
    return filled


def for_roles(study: Study) -> Study:
    """Return the study with Inspect's models in its open seats: the model of the role, or the
    default model.

    Raises:
        BadInput: An open seat has neither.
    """
    seats = {seat for cell in study.cells for lineup in cell.lineups for seat in open_seats(lineup)}
    models = {seat: str(get_model(role=seat)) for seat in seats}
    unfilled = sorted(seat for seat, model in models.items() if model == NO_MODEL)
    if unfilled:
        raise BadInput(
            f"{study.name} needs a model for {join_names(unfilled, 'and')}: name one model for all "
            "seats, or a model role for each of them."
        )
    return with_model(study, models)


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
    return task(name=registered_name(name, make))(make)


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
    free_seats = [str(seat) for seat in rules.seats if seat not in spec.occupants]
    models = [part.strip() for part in seats.split(",") if part.strip()] or free_seats[:1]
    for seat in models:
        if seat not in free_seats:
            raise unknown(f"seat of {game}", seat, free_seats)
    others = {
        seat: PlayerSpec(partner) if partner else usual_player(spec, rules, Seat(seat))
        for seat in free_seats
        if seat not in models
    }
    probe_names = (
        () if probes == "none" else tuple(p.strip() for p in probes.split(",") if p.strip())
    )
    if not probes:
        probe_names = spec.measured.acts_on or tuple(probe.name for probe in spec.probes[:1])
    for probe in probe_names:
        spec.probe(probe)
    lineup = {seat: PlayerSpec(LANGUAGE, {"strategy": strategy}) for seat in models} | others
    cell = Cell(
        game,
        (Instance(game, game, dict(params)),),
        ({seat: lineup[seat] for seat in free_seats},),
        arms=dict.fromkeys(models, probe_names) if probe_names else {},
        repeats=episodes,
    )
    return Study(f"inspect_{game}", f"{game} as an Inspect task", (cell,), seed=seed)
