"""The suite Sally-1: ten games, frozen, in three nested sizes.

Every game has problems by depth or an exact optimum, a pool of opponents divided by behaviour into
practice and test, and four arms: asked (probes before every move), reworded (the same in another
wording or order), not asked, and twin (a mechanism in place of a mind). Arms are spread over the
problems, not crossed: problem n is played in the asked arm and in one other arm, in turn, on the
same seed, so every arm is compared in pairs. Labels and orders of repeated games vary over
problems. A larger size contains the episodes of a smaller one.

A change to any episode makes it a different suite: `tests/studies/test_sally_1.py` holds its
hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args

import msgspec

from sally.analysis.evaluation import (
    ASKED,
    NOT_ASKED,
    REWORDED,
    TWIN,
    Recorded,
    Reliability,
)
from sally.core.errors import BadInput, unknown
from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry.study import Cell, Study, player_spec
from sally.core.registry.study import instance as problem
from sally.frames.labels import tags_of
from sally.players.language import LANGUAGE, OPEN
from sally.studies.knowing_doing import cycle, three_moves, two_moves, two_rounds_ago

T = TypeVar("T")
VERSION = 1
NAME = "sally_1"
SEED = 1
ROUNDS, REQUESTS = 10, 5  # of repeated games, of the request game
SETTINGS = {"temperature": 0.0, "max_tokens": 64}
Size = Literal["S", "M", "L"]
SIZE_NAMES: tuple[Size, ...] = get_args(Size)
Part = Literal["practice", "test"]
SIZES: Mapping[str, Mapping[Size, tuple[int, int]]] = {  # game -> size -> problems, repeats
    "rps": {"S": (12, 1), "M": (60, 1), "L": (216, 1)},
    "ipd": {"S": (12, 1), "M": (60, 1), "L": (216, 1)},
    "ibs": {"S": (12, 1), "M": (60, 1), "L": (216, 1)},
    "eleven_twenty": {"S": (12, 1), "M": (60, 1), "L": (240, 1)},
    "toma_po": {"S": (32, 1), "M": (160, 1), "L": (240, 3)},
    "toma_mg": {"S": (24, 1), "M": (120, 1), "L": (120, 4)},
    "pick_the_right_stuff": {"S": (12, 1), "M": (60, 1), "L": (180, 1)},
    "bargaining": {"S": (6, 1), "M": (24, 1), "L": (60, 2)},
    "step_race": {"S": (7, 1), "M": (7, 4), "L": (7, 16)},
    "battery": {"S": (24, 1), "M": (120, 1), "L": (480, 1)},
}
GAMES = tuple(SIZES)
ARMS = (ASKED, REWORDED, NOT_ASKED, TWIN)
OTHER_ARMS = ARMS[1:]  # every problem is played in the asked arm and in one of these
WORDINGS: Mapping[str, tuple[str, ...]] = {  # skins of the reworded arm, in turn
    **dict.fromkeys(("rps", "ipd", "ibs", "eleven_twenty"), ("formal",)),
    **dict.fromkeys(
        ("toma_po", "toma_mg", "pick_the_right_stuff", "bargaining", "step_race", "battery"),
        ("formal", "order"),
    ),
}
PROBES: Mapping[str, str] = {
    **dict.fromkeys(("rps", "ipd", "ibs", "eleven_twenty"), "their_move"),
    "step_race": "their_pick",  # small models do not answer in odds
    "battery": "belief",
    "toma_po": "their_choice",
    "toma_mg": "their_place",
    "pick_the_right_stuff": "state_last_seen",
    "bargaining": "their_quote",
}
FAMILIES: Mapping[str, str] = {
    **dict.fromkeys(("rps", "ipd", "ibs"), "repeated_games"),
    "eleven_twenty": "level_k",
}


class Task(msgspec.Struct, frozen=True):
    """One problem of the suite with its opponents, for the seat that is evaluated."""

    instance: Instance
    seat: str
    others: dict[str, PlayerSpec]
    part: Part


# --- the pool of opponents ------------------------------------------------------------------------

_PRACTICE = {
    "tit_for_tat": player_spec("tit_for_tat"),
    "win_stay_lose_shift": player_spec("win_stay_lose_shift"),
    "constant": player_spec("single_action", action=1),
}
_TWO_MOVES: Mapping[Part, Mapping[str, PlayerSpec]] = {
    "practice": {**_PRACTICE, "cycle 0-0-1": cycle(0, 0, 1)},
    "test": {"two rounds ago": two_rounds_ago(), "grim_trigger": player_spec("grim_trigger")},
}
POOL: Mapping[str, Mapping[Part, Mapping[str, PlayerSpec]]] = {
    "rps": {
        "practice": {**_PRACTICE, "cycle": player_spec("previous_move_plus", follow=1.0)},
        "test": {
            "win_plus_lose_minus": player_spec("win_plus_lose_minus", follow=1.0),
            "opponent_previous_plus": player_spec("opponent_previous_plus", follow=1.0),
        },
    },
    "ipd": _TWO_MOVES,
    "ibs": _TWO_MOVES,
    "eleven_twenty": {
        "practice": {f"level {k}": player_spec("level", k=k) for k in (0, 1)},
        "test": {f"level {k}": player_spec("level", k=k) for k in (2, 3)},
    },
}
"""Opponents of the games in which any opponent meets any problem; bargaining and step_race have
certified pairs of problem and opponent, and the other games have no second seat."""
TEST_ONLY: Mapping[str, tuple[str, ...]] = {
    "bargaining": ("responsive", "grim"),
    "step_race": ("blocker",),
}  # opponents whose problems are in the test part


def pool_rows() -> list[dict[str, str]]:
    """Return every opponent of the suite: game, name, part, player, version and hash.

    The hash covers the player's name, parameters and version: a change makes it a different
    opponent.
    """
    from sally.core.registry import registry  # not needed to build the suite

    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for game in GAMES:
        names = {
            msgspec.json.encode(player, order="sorted"): name
            for opponents in POOL.get(game, {}).values()
            for name, player in opponents.items()
        }
        for task in tasks(game):
            for player in task.others.values():
                key = msgspec.json.encode(player, order="sorted")
                version = registry.partners(FAMILIES.get(game, game))[player.player].version
                name = names.get(key) or " ".join(
                    [player.player, *map(str, player.params.values())]
                )
                rows.setdefault(
                    (game, name, task.part),
                    {
                        "game": game,
                        "name": name,
                        "part": task.part,
                        "player": player.player,
                        "version": str(version),
                        "hash": _hash([player.player, player.params, version]),
                    },
                )
    return list(rows.values())


def _hash(value: object) -> str:
    from hashlib import blake2b

    return blake2b(msgspec.json.encode(value, order="sorted"), digest_size=6).hexdigest()


# --- problems -------------------------------------------------------------------------------------


def tasks(game: str) -> Sequence[Task]:
    """Return every problem of a game with its opponents; a smaller size uses the first ones
    only."""
    if game not in SIZES:
        raise unknown("game of sally_1", game, SIZES)
    return tuple(_TASKS[game](game))


def _in_turn(groups: Sequence[Sequence[Any]]) -> Iterator[Any]:
    """Yield the first item of every group, then the second of every group, until one group runs
    out."""
    for row in zip(*groups, strict=False):
        yield from row


def _repeated_games(game: str) -> Iterator[Task]:
    """Yield a task for every opponent with each of the 36 instances, which vary the labels of the
    moves and their order in the prompt.

    Different opponents go through these instances in different orders, so that opponents and labels
    are not confounded in a smaller size either.
    """
    variants = three_moves(game) if game == "rps" else two_moves(game)
    listed = [
        (part, player) for part, opponents in POOL[game].items() for player in opponents.values()
    ]
    for n in range(len(listed) * len(variants)):
        turn, number = divmod(n, len(listed))
        part, player = listed[number]
        variant = variants[(7 * turn + 5 * number) % len(variants)]
        params = {**variant.params, "rounds": ROUNDS, "void_limit": ROUNDS}
        yield Task(
            Instance(f"{variant.id} {n:03d}", game, params), "agent", {"partner": player}, part
        )


def _requests(game: str) -> Iterator[Task]:
    """Yield tasks in the request game: every opponent in turn, with a different range of numbers in
    each pass over the opponents."""
    listed = [
        (part, player) for part, opponents in POOL[game].items() for player in opponents.values()
    ]
    for n in range(SIZES[game]["L"][0]):
        turn, number = divmod(n, len(listed))
        part, player = listed[number]
        low = 11 + turn
        pays = {"kind": "request", "low": low, "high": low + 9, "bonus": 20}
        request = problem(
            game, f"{game} {low} {n:03d}", pays=pays, rounds=REQUESTS, void_limit=REQUESTS
        )
        yield Task(request, "player_1", {"player_2": player}, part)


def _toma(game: str) -> Iterator[Task]:
    from sally.games.toma.mg.game import certified_by_id as mg
    from sally.games.toma.po.game import certified_by_id as po

    by_depth: dict[int, list[Instance]] = {}
    scenarios: Mapping[str, Any] = po() if game == "toma_po" else mg(5)
    for id, certificate in scenarios.items():
        task_problem = problem(game, id, scenario=id, level=certificate.scenario.level)
        by_depth.setdefault(certificate.block, []).append(task_problem)
    for task_problem in _in_turn([by_depth[depth] for depth in sorted(by_depth)]):
        yield Task(task_problem, "player", {}, "test")


def _lockers(game: str) -> Iterator[Task]:
    sets = (("zero", "balanced"), ("finite", "balanced"), ("infinite", "even"))
    for task_problem in _in_turn(
        [
            [
                problem(game, f"{mode} {n:03d}", mode=mode, generator=generator, users=5, number=n)
                for n in range(60)
            ]
            for mode, generator in sets
        ]
    ):
        yield Task(task_problem, "manager", {}, "test")


def _bargains(game: str) -> Iterator[Task]:
    from sally.games.bargaining.instances import frozen

    groups: dict[int, list[Task]] = {}
    for frozen_problem in frozen().problems:
        if frozen_problem.seat != "buyer":
            continue
        part: Part = "test" if frozen_problem.partner in TEST_ONLY[game] else "practice"
        task = Task(frozen_problem.instance(), frozen_problem.seat, frozen_problem.across, part)
        groups.setdefault(frozen_problem.depth, []).append(task)
    yield from _in_turn([groups[depth] for depth in sorted(groups)])


def _races(game: str) -> Iterator[Task]:
    from sally.games.step_race.certified_tables import read_certified

    for race in read_certified():
        if race.seat != "player_1":
            continue
        test_only = {player.player for player in race.others.values()} & {*TEST_ONLY[game]}
        task_problem = problem(game, race.id, **race.params)
        yield Task(task_problem, race.seat, dict(race.others), "test" if test_only else "practice")


ITEMS_SEED = 42  # of the stories: no other study and no training split has them
ACTION = (0, 3, 6)  # in a story of belief_action: what does the person do? One for each twin
JUDGED = (1, 2, 3, 5, 6, 7)  # in a story of applied: the questions that have a belief before them


def _stories(game: str) -> Iterator[Task]:
    """Yield single questions from different stories, two of each kind: nested beliefs of orders 1
    to 4, a person's action (belief_action), and what is reasonable (applied)."""

    def make_task(name: str, **params: object) -> Task:
        item = problem(game, name, **params, generator_seed=ITEMS_SEED)
        return Task(item, "reader", {}, "test")

    from sally.games.battery.rules import PER_STORY

    story_pairs = SIZES[game]["L"][0] // (2 * _BLOCK[game])
    acts, judged = PER_STORY["belief_action"], PER_STORY["applied"]
    for n in range(story_pairs):
        for order in range(1, 5):
            name = f"nested {order} {n:03d}"
            yield make_task(name, generator="nested", order=order, number=n)
        for story in (2 * n, 2 * n + 1):
            number = story * acts + ACTION[story % len(ACTION)]
            yield make_task(f"belief_action {story:03d}", generator="belief_action", number=number)
        for story in (2 * n, 2 * n + 1):
            number = story * judged + JUDGED[story % len(JUDGED)]
            yield make_task(f"applied {story:03d}", generator="applied", number=number)


_TASKS = {
    **dict.fromkeys(("rps", "ipd", "ibs"), _repeated_games),
    "eleven_twenty": _requests,
    **dict.fromkeys(("toma_po", "toma_mg"), _toma),
    "pick_the_right_stuff": _lockers,
    "bargaining": _bargains,
    "step_race": _races,
    "battery": _stories,
}
_BLOCK: Mapping[str, int] = {  # problems after which opponents or depths come round again
    **dict.fromkeys(("rps", "ipd", "ibs"), 6),
    **dict.fromkeys(("eleven_twenty", "toma_po"), 4),
    **dict.fromkeys(("toma_mg", "pick_the_right_stuff", "bargaining", "step_race"), 3),
    "battery": 4,  # twice four kinds of question
}


def other_arm(game: str, number: int) -> str:
    """Return the second condition (arm) in which a problem is played. The first is the same for all
    problems: players are asked about others while they play.

    The sequence of second arms is shifted by one in each block of problems, so that no opponent or
    depth is always played in the same arm.
    """
    return OTHER_ARMS[(number + number // _BLOCK[game]) % len(OTHER_ARMS)]


# --- the study ------------------------------------------------------------------------------------


def suite(size: Size = "S", games: Sequence[str] = GAMES) -> Study:
    """Return the suite in one size, with its seats open for a model.

    Raises:
        BadInput: If the size or a game is unknown.
    """
    if size not in SIZE_NAMES:
        raise BadInput(f"The sizes of sally_1 are S, M and L, not {size!r}.")
    cells = tuple(cell for game in games for cell in _cells(game, size))
    name = NAME if size == "S" else f"{NAME}_{size.lower()}"
    about = f"the suite Sally-1, size {size}: ten games, knowing, acting on it and doing"
    tags = {"suite": NAME, "size": size}
    return Study(name=name, about=about, cells=cells, seed=SEED, tags=tags)


def in_one_store(study: Study) -> Study:
    """Return a size of the suite with the name `sally_1`, so that all sizes share one store."""
    return msgspec.structs.replace(study, name=NAME)


def size_of(study: Study) -> Size | None:
    """Return the suite size of a study; None if the study is not a size of the suite."""
    tags = tags_of(study)
    is_suite = study.name.startswith(NAME) and tags.get("suite") == NAME
    return next((size for size in SIZE_NAMES if is_suite and size == tags.get("size")), None)


def _cells(game: str, size: Size) -> Iterator[Cell]:
    all_tasks = tasks(game)
    count, repeats = SIZES[game][size]
    pairs_by_arm: dict[tuple[str, str], list[tuple[Task, PlayerSpec]]] = {}
    for number, task in enumerate(all_tasks[:count]):
        for arm in (ASKED, other_arm(game, number)):
            player = _model(_pack(game, arm, number))
            pairs_by_arm.setdefault((arm, task.part), []).append((task, player))
    for arm, part in sorted(pairs_by_arm, key=lambda key: (ARMS.index(key[0]), key[1])):
        pairs = pairs_by_arm[arm, part]
        seat = pairs[0][0].seat
        yield Cell(
            f"{game}: {arm}, {part}",
            tuple(task.instance for task, _ in pairs),
            tuple({seat: player, **task.others} for task, player in pairs),
            {} if arm == NOT_ASKED else {seat: (PROBES[game],)},
            repeats=repeats,
            paired=True,
            factors={"arm": arm, "part": part},
        )


def _pack(game: str, arm: str, number: int) -> str:
    family = FAMILIES.get(game, game)
    if arm == TWIN:
        return f"{family}_twin"
    if arm != REWORDED:
        return ""
    skins = WORDINGS[game]
    return f"{family}_{skins[number // len(OTHER_ARMS) % len(skins)]}"


def _model(pack: str) -> PlayerSpec:
    params = {"pack": pack} if pack else {}
    return player_spec(LANGUAGE, model=OPEN, strategy="qa", settings=SETTINGS, **params)


# --- bots -----------------------------------------------------------------------------------------

Others = Mapping[str, PlayerSpec]
Bot = Callable[[str, Others], PlayerSpec | None]  # game, opponents -> player; None: does not play
REPEATED = ("rps", "ipd", "ibs")


def best_bot(game: str, others: Others) -> PlayerSpec:
    """Return the strongest bot of a game.

    It knows the pool in repeated games, and its opponents in the request game, in bargaining (but
    not their limits) and in the step race; in other games it solves the problem from the view of
    its seat.
    """
    if game in REPEATED:
        pool = [player for opponents in POOL[game].values() for player in opponents.values()]
        return player_spec("bayes_adaptive", pool=msgspec.to_builtins(pool))
    if game == "eleven_twenty":
        (player,) = others.values()
        return player_spec("level", k=player.params["k"] + 1)
    if game == "bargaining":
        (player,) = others.values()
        return player_spec("planner", against=player.player, params=player.params)
    if game == "step_race":
        return player_spec("planner", others=msgspec.to_builtins(list(others.values())))
    return {
        "toma_po": player_spec("solver"),
        "toma_mg": player_spec("solver"),
        "pick_the_right_stuff": player_spec("tracker"),
        "battery": player_spec("believer"),
    }[game]


def noisy(error: float) -> Bot:
    """Return the best bot, changed so that a share `error` of its moves and answers is random."""

    def make_noisy(game: str, others: Others) -> PlayerSpec:
        best = best_bot(game, others)
        return player_spec("noisy", of=best.player, params=best.params, error=error)

    return make_noisy


def _everywhere(name: str) -> Bot:
    return lambda game, others: player_spec(name)


def _in_rounds(name: str) -> Bot:
    return lambda game, others: player_spec(name) if game in REPEATED else None


LEARNERS = ("tabular", "q_learning", "fictitious_learner", "learner")
BOTS: Mapping[str, Bot] = {
    "random": _everywhere("random"),
    "best_bot": best_bot,
    **{f"noisy_{round(100 * error):02d}": noisy(error) for error in (0.25, 0.5, 0.75)},
    **{name: _in_rounds(name) for name in ("copy_last", *LEARNERS)},
}
"""Bots that can be evaluated; learners and copy_last play repeated games only."""


REFERENCES = ("best_bot", "tabular", "learner")  # played beside every evaluated player


def bot_suite(name: str, size: Size = "S") -> Study:
    """Return the suite with a bot in the seats of the model.

    Arms that differ only in words are left out, because a bot reads no words.

    Raises:
        BadInput: If there is no such bot.
    """
    if name not in BOTS:
        raise unknown("bot", name, BOTS)
    played_suite = with_bot(BOTS[name], size)
    about, tags = (
        f"{played_suite.about}; played by the bot {name}",
        {**played_suite.tags, "bot": name},
    )
    return msgspec.structs.replace(played_suite, about=about, tags=tags)


def with_bot(bot: Bot, size: Size = "S") -> Study:
    """Return the suite with any bot in the seats of the model."""
    cells = []
    for cell in suite(size).cells:
        if cell.factors["arm"] not in (ASKED, NOT_ASKED):
            continue
        game = cell.instances[0].game
        lineups = [_with_bot(game, line, bot) for line in cell.lineups]
        if all(line is not None for line in lineups):
            bot_lineups = tuple(line for line in lineups if line is not None)
            cells.append(msgspec.structs.replace(cell, lineups=bot_lineups))
    return msgspec.structs.replace(suite(size), cells=tuple(cells))


def _with_bot(game: str, lineup: Others, bot: Bot) -> dict[str, PlayerSpec] | None:
    others = {seat: player for seat, player in lineup.items() if player.player != LANGUAGE}
    player = bot(game, others)
    if player is None:
        return None
    return {seat: others.get(seat, player) for seat in lineup}


# --- what a size can tell apart -------------------------------------------------------------------

SPREADS = "sally_1_spreads.json"  # written by benchmarks/sally_1.py
POWER, ALPHA = 0.8, 0.05
DETECTS = (
    "knowing, doing: the smallest difference between two players that is detected in a game with "
    "80% power (paired t test over problems, level .05 shared by all games and both measures as "
    "by Holm's first step), from the largest to the smallest game. Standard deviations of "
    "differences are those between bots of neighbouring skill; `benchmarks/sally_1.py` computes "
    "them, and --json lists every game."
)


def spreads() -> dict[str, dict[str, float]]:
    """Return standard deviations of the difference between two players on a problem, by measure and
    game."""
    return _record(SPREADS, dict[str, dict[str, float]])


def smallest_differences(size: Size, measure: str) -> dict[str, float | None]:
    """Return the smallest difference between two players that this size of the suite can detect, by
    game; None for a game whose variation is not known."""
    from sally.stats.power import t_power

    deviations = spreads()[measure]
    family = sum(len(by_game) for by_game in spreads().values())
    differences: dict[str, float | None] = {}
    for game in GAMES:
        sd, pairs = deviations.get(game), SIZES[game][size][0]
        if not sd:
            differences[game] = None
            continue
        low, high = 0.0, 20 * sd
        for _ in range(50):
            middle = (low + high) / 2
            power = t_power(pairs, middle, sd**2, alpha=ALPHA / family)
            low, high = (middle, high) if power < POWER else (low, middle)
        differences[game] = high
    return differences


# --- what else is known of a game -----------------------------------------------------------------

RELIABILITY = "sally_1_reliability.json"  # written by benchmarks/sally_1.py
RECORDED_PLAY = "recorded_play.json"  # from the pages in docs/results that it names


def reliability(size: Size) -> dict[str, dict[str, Reliability]]:
    """Return the reliability with which this size of the suite distinguishes bots of graded skill,
    by game and measure."""
    return _record(RELIABILITY, dict[str, dict[str, dict[str, Reliability]]]).get(size, {})


def recorded_play() -> tuple[Recorded, ...]:
    """Return published results of people and models in games of the suite, but on problems other
    than those of the suite."""
    return _record(RECORDED_PLAY, tuple[Recorded, ...])


def _record(name: str, kind: type[T]) -> T:
    from importlib.resources import files

    return msgspec.json.decode((files("sally.studies.records") / name).read_bytes(), type=kind)


STUDY = suite("S")
