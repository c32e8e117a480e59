"""Sally's games for verifiers (v1): a task set, an environment, and an in-process harness.

    config = GameEnvConfig(taskset=GamesConfig(id="sally-verifiers", game="ipd"))
    env = GameEnv(config)      # then `env.run_episode`; or at the prompt, `vf-eval sally-verifiers`

Prompts, reply parsing, retries and forfeits are the same as in an evaluation: at each call the
model receives the messages that an evaluation would send. Probes go to a separate role that is not
trained.

    env, config = seats_env("ipd")    # every seat an agent, with a trace and rewards of its own

Each trace lists the reward of every turn with the message that earned it (`turns_of`), and
`credit_turns` assigns one advantage to each turn, only on the sampled tokens of that message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import lru_cache
from itertools import islice
from ssl import SSLContext, create_default_context
from typing import Any, ClassVar

from msgspec.structs import asdict

from sally.core.errors import BadInput, needs_extra, unknown

with needs_extra("verifiers"):
    import httpx
    import verifiers.v1 as vf
    from pydantic import create_model

from sally.adapters.trainers.text import Columns, Request, Row, TextEnv, TextSeats
from sally.adapters.trainers.text.splits import split_of
from sally.core.log.events import Censored, Episode, to_line
from sally.core.prompt.model import Assistant, Reply, System
from sally.core.rules.chance import derived_seed
from sally.parts.training import Split

TURNS = "sally_turns"  # in a trace's info
ID = "sally-verifiers"  # the module name by which verifiers finds all three
HERE = vf.SubprocessConfig()  # unused; the default would rent a machine


class GameData(vf.TaskData):  # type: ignore[misc]
    """One episode, identified by split and seed; its partner is not revealed."""

    game: str
    part: str
    seed: int


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    """An episode to play; the environment records its rewards."""


class GamesConfig(vf.TasksetConfig):  # type: ignore[misc]
    """Selection of episodes: game, split, number and seed."""

    game: str = "ipd"
    part: str = "train"
    count: int = 64
    seed: int = 0


class Games(vf.Taskset[GameTask, GamesConfig]):  # type: ignore[misc]
    """Episodes of one game; all rollouts of a task have the same partner and random draws."""

    def load(self) -> Iterator[GameTask]:
        """Yield the tasks.

        Raises:
            BadInput: The game or the split is unknown.
        """
        config = self.config
        split_of(config.game).part(config.part)
        for n in range(config.count):
            name = f"{config.game}-{config.part}-{n}"
            seed = derived_seed("verifiers", config.game, config.part, config.seed, n)
            data = GameData(name=name, game=config.game, part=config.part, seed=seed)
            yield GameTask(data, config.task)


class PostConfig(vf.HarnessConfig):  # type: ignore[misc]
    """Configuration of `Post`, which has no options."""

    id: vf.ID = ID


class Post(vf.Harness[PostConfig]):  # type: ignore[misc]
    """A harness that sends one request per turn, in this process."""

    SUPPORTS_RESUME: ClassVar[bool] = True
    NEEDS_CONTAINER: ClassVar[bool] = False
    EXECUTES_CODE: ClassVar[bool] = False

    async def launch(self, *args: Any, **kwargs: Any) -> Any:
        """Always raise BadInput, because an episode starts with a prompt of the environment."""
        raise BadInput("These tasks are played in turns; use them with GameEnv.")

    async def resume(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
        messages: Any,
        tool_interception_url: str | None = None,
    ) -> Any:
        """Send the environment's whole conversation to the model."""
        wire_messages = [{"role": message.role, "content": message.content} for message in messages]
        async with httpx.AsyncClient(
            timeout=None, trust_env=False, verify=_tls_context()
        ) as client:
            answer = await client.post(
                f"{endpoint}/chat/completions",
                json={"model": ctx.model, "messages": wire_messages},
                headers={"Authorization": f"Bearer {secret}"},
            )
        failed = int(answer.status_code >= 400)
        return vf.ProgramResult(failed, "", answer.text[-2000:] if failed else "")


@lru_cache
def _tls_context() -> SSLContext:
    """Return a shared TLS context, because reading certificates takes longer than a request."""
    return create_default_context()


class GameEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """Configuration of the player, of the agent that answers the probes, and of the game."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=HERE)
    prober: vf.AgentConfig = vf.AgentConfig(runtime=HERE)
    strategy: str = "chat"
    probes: tuple[str, ...] = ()
    misreadings: int = 2  # maximum retries of an unreadable reply
    weights: dict[str, float] | None = None  # weights of the reward columns


class GameEnv(vf.Env[GameEnvConfig]):  # type: ignore[misc]
    """One seat of a game; an episode is a rollout."""

    async def setup(self, agents: Any) -> None:
        """Exclude from training the agent that answers the probes."""
        agents.prober.trainable = False

    async def run(self, task: Any, agents: Any) -> None:
        """Play the episode to its end and record its rewards."""
        env = self._begin_env(task.data)
        talks, ended = await _play_talks(
            env, task, agents, lambda request: "player" if request.kind == "move" else "prober"
        )
        trace = talks["player"].trace
        _enter(trace, env.rows(("move", *self.config.probes)), env.weights, ended)
        _enter_turns(trace, env.rows(), env.weights)

    def _begin_env(self, data: Any) -> TextEnv:
        config = self.config
        env = TextEnv(
            data.game,
            strategy=config.strategy,
            probes=config.probes,
            retries=config.misreadings,
            weights=config.weights,
        )
        env.reset(data.seed, data.part)
        return env


class SeatsEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """The settings of a game in which agents play the seats; `seats_env` adds a field for each
    seat."""

    strategy: str = "chat"
    pack: str = ""  # words pack of the prompts; empty: the game's own words
    misreadings: int = 2  # maximum retries of an unreadable reply
    weights: dict[str, float] | None = None  # weights of the reward columns
    fixed: tuple[str, ...] = ()  # seats whose traces are not trained on


def seats_env(
    game: str, seats: Sequence[str] = (), split: Split | None = None
) -> tuple[type[Any], type[Any]]:
    """Return the environment of a game whose seats are agents, and its configuration.

    Each seat is a role with its own trace. A role without its own model is played by the run's
    model, so one policy can take several seats, or several policies can take one seat each.

    Args:
        game: The game's name.
        seats: The seats that are agents; all seats if empty. The other seats keep the task's
            players.

    Raises:
        BadInput: The game or a seat is unknown.
    """
    roles = TextSeats(game, seats).seats
    fields: dict[str, Any] = {
        seat: (vf.AgentConfig, vf.AgentConfig(runtime=HERE)) for seat in roles
    }
    config = create_model("SeatsConfig", __base__=SeatsEnvConfig, **fields)

    class GameSeats(vf.Env[config]):  # type: ignore[misc]
        """Several seats of a game; an episode has one trace for each seat."""

        async def setup(self, agents: Any) -> None:
            """Exclude the seats listed in `fixed` from training."""
            for seat in self.config.fixed:
                if seat not in roles:
                    raise unknown(f"seat of {game}", seat, roles)
                getattr(agents, seat).trainable = False

        async def run(self, task: Any, agents: Any) -> None:
            """Play the episode to its end and record the rewards of each seat on its trace."""
            config = self.config
            env = TextSeats(
                game,
                roles,
                split,
                strategy=config.strategy,
                pack=config.pack,
                retries=config.misreadings,
                weights=config.weights,
                names={seat: getattr(agents, seat).config.model for seat in roles},
            )
            env.reset(task.data.seed, task.data.part)
            talks, ended = await _play_talks(env, task, agents, lambda request: env.seat)
            for seat, talk in talks.items():
                _enter(talk.trace, env.rows(seat), env.weights, ended)
                _enter_turns(talk.trace, env.rows(seat), env.weights)

    return GameSeats, config


def turns_of(trace: Any) -> list[dict[str, Any]]:
    """Return the turns of a finished trace: message nodes, reward and reward columns of each."""
    turns: list[dict[str, Any]] = trace.info.get(TURNS, [])
    return turns


def credit_turns(trace: Any, advantages: Sequence[float]) -> None:
    """Assign one advantage to each turn, only on the sampled tokens of the turn's own messages.

    Raises:
        BadInput: The number of advantages differs from the number of turns.
    """
    turns = turns_of(trace)
    if len(turns) != len(advantages):
        raise BadInput(f"{len(advantages)} advantages were given for {len(turns)} turns.")
    for turn, advantage in zip(turns, advantages, strict=True):
        for place in turn["nodes"]:
            node = trace.nodes[place]
            node.advantages = [float(advantage)] * sum(node.mask)


async def _play_talks(
    env: TextEnv | TextSeats, task: Any, agents: Any, role_of: Callable[[Request], str]
) -> tuple[dict[str, Any], Episode]:
    """Play the episode to its end; return the conversation of each role, and the record.

    Raises:
        BadInput: The episode has no result, which is not a reward of zero.
    """
    talks: dict[str, Any] = {}
    async with AsyncExitStack() as open_:
        while (request := env.asked) is not None:
            role = role_of(request)
            if role not in talks:
                talk = getattr(agents, role).interaction(task)
                talks[role] = await open_.enter_async_context(talk)
            await _turn(env, request, talks[role])
    ended = env.episode()
    if isinstance(ended.end, Censored):
        raise BadInput(f"The episode has no result: {ended.end.cause}.")
    return talks, ended


async def _turn(env: TextEnv | TextSeats, request: Request, talk: Any) -> None:
    """Send a prompt to the model; if the run stops, the episode has no result."""
    segment = await talk.turn(_wire(request))
    if segment.terminated:
        error = talk.trace.last_error
        env.censor("limit" if error is None else "fault", talk.trace.stop_condition or "")
        return
    text = segment.messages[-1].content or ""
    cut = talk.trace.calls[-1].finish_reason == "length"
    env.step(Reply(text, finish="length" if cut else "stop"))


def _wire(request: Request) -> list[dict[str, str]]:
    """Return the messages in the format of verifiers."""
    if isinstance(request.messages, str) or request.candidates:
        raise BadInput("This strategy needs scores, which verifiers does not provide.")
    if request.tools:
        raise BadInput("This strategy needs tools, which the verifiers adapter does not support.")
    return [{"role": _role(message), "content": message.text} for message in request.messages]


def _role(message: Any) -> str:
    if isinstance(message, Assistant):
        return "assistant"
    return "system" if isinstance(message, System) else "user"


def _enter(trace: Any, rows: Sequence[Row], weights: Mapping[str, float], ended: Episode) -> None:
    """Record on the trace the weighted columns as rewards, all other columns as metrics, and the
    episode itself."""
    for name in Columns.__struct_fields__:
        values = [v for row in rows if (v := getattr(row.columns, name)) is not None]
        if not values:
            continue
        if name in weights:
            trace.record_reward(name, sum(values), weights[name])
        else:
            trace.record_metric(name, sum(values))
    trace.info["sally_episode"] = to_line(ended).decode()


def _enter_turns(trace: Any, rows: Sequence[Row], weights: Mapping[str, float]) -> None:
    """Record each move of a trace with its reward and the messages that produced it.

    If a reply was invalid and the model tried again, all tries belong to the same move.
    """
    sampled = (place for place, node in enumerate(trace.nodes) if node.sampled)
    trace.info[TURNS] = [
        {
            "turn": row.turn,
            "nodes": list(islice(sampled, len(row.tries))),
            "reward": row.columns.reward(weights),
            "columns": asdict(row.columns),
        }
        for row in rows
    ]
