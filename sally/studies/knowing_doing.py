"""Knowing and doing: does a model act on its predictions, beyond a preference for some labels?

The labels of the moves, and the order in which a prompt lists them, are counterbalanced over
instances and not crossed with partners or arms. In games of two moves, half of the instances
exchange the labels for the partner's moves, so that repeating the predicted label and playing the
best reply can be told apart. Primary cells come first; secondary cells use the first, balanced part
of the same instances, and so the same seeds.

Calls of one model, at most (`sally plan knowing_doing --model M` counts them): 35,000 in the
primary cells, 70,000 in the secondary ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Any

from sally.core.log.events import Injection, Instance, PlayerSpec
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.core.rules.game import Seat
from sally.players.language import OPEN

ROUNDS = 20
SETTINGS = {"temperature": 0.0, "max_tokens": 12}  # enough for `Option: J`
LETTERS = ("J", "F", "B")
PAIRS = ("JF", "QX", "BK", "MT", "VH", "ZG", "LW", "NR", "SP")
SECONDARY = {"rps": 18, "ipd": 16, "ibs": 16}  # of 36 instances, balanced among themselves

# --- instances ------------------------------------------------------------------------------------


def _repeated_game(
    game: str, names: Iterable[str], order: Iterable[int], **params: Any
) -> Instance:
    listed, places = list(names), list(order)
    mark = f"{''.join(listed)} {''.join(map(str, places))}"
    mark += f" {''.join(params['partner_names'])}" if "partner_names" in params else ""
    return instance(game, f"{game} {mark}", rounds=ROUNDS, void_limit=ROUNDS,
                    names=listed, order=places, **params)  # fmt: skip


def three_moves(game: str) -> tuple[Instance, ...]:
    """Return an instance for every assignment of three letters to the moves and every order in
    which the moves are listed: 36 instances.

    The first 18 are balanced as well: every letter occurs equally often for every move, at every
    position and in every order of the moves. They are those in which the letters, in the order in
    which the prompt lists them, are an even permutation.
    """
    moves = range(3)
    variants = [(names, order) for names in permutations(LETTERS) for order in permutations(moves)]
    even = {tuple(LETTERS[(n + shift) % 3] for n in moves) for shift in moves}
    read = {pair: tuple(pair[0][move] for move in pair[1]) for pair in variants}
    ordered = sorted(variants, key=lambda pair: read[pair] not in even)  # stable
    return tuple(_repeated_game(game, names, order) for names, order in ordered)


def two_moves(game: str) -> tuple[Instance, ...]:
    """Return instances for nine pairs of letters, each with both assignments to the two moves and
    both orders in the list: 36 instances.

    In half of them the partner's moves have the same labels as the player's moves; in the other
    half the two labels are exchanged.
    """
    variants = []
    for number, pair in enumerate(PAIRS):
        for swap in range(2):
            for turn in range(2):
                names = (pair[swap], pair[1 - swap])
                partner_names = names if (number + swap + turn) % 2 == 0 else names[::-1]
                variants.append(
                    _repeated_game(game, names, (turn, 1 - turn), partner_names=list(partner_names))
                )
    return tuple(variants)


INSTANCES = {"rps": three_moves("rps"), "ipd": two_moves("ipd"), "ibs": two_moves("ibs")}

# --- partners -------------------------------------------------------------------------------------


def cycle(*moves: int) -> PlayerSpec:
    """Return a partner of a two-move game that cycles through these moves."""
    states = {
        str(n): {
            "odds": [float(move == action) for action in range(2)],
            "after": [[str((n + 1) % len(moves))] * 2] * 2,
        }
        for n, move in enumerate(moves)
    }
    return player_spec("policy_table", table={"start": "0", "states": states})


def two_rounds_ago() -> PlayerSpec:
    """Return a partner of a two-move game that copies the other's move from two rounds ago."""
    states = {
        f"{last}{earlier}": {
            "odds": [float(earlier == action) for action in range(2)],
            "after": [[f"{next_move}{last}" for next_move in range(2)]] * 2,
        }
        for last in range(2)
        for earlier in range(2)
    }
    return player_spec("policy_table", table={"start": "00", "states": states})


_CONSTANT = player_spec("single_action", action=1)
_TWO = {
    "tit_for_tat": player_spec("tit_for_tat"),
    "cycler": cycle(0, 0, 1),
    "win_stay_lose_shift": player_spec("win_stay_lose_shift"),
    "held_out": two_rounds_ago(),
}
PARTNERS: Mapping[str, Mapping[str, PlayerSpec]] = {
    "rps": {
        "tit_for_tat": player_spec("tit_for_tat"),
        "cycler": player_spec("previous_move_plus", follow=1.0),
        "win_stay_lose_shift": player_spec("win_stay_lose_shift"),
        "held_out": player_spec("win_plus_lose_minus", follow=1.0),
    },
    "ipd": _TWO,
    "ibs": _TWO,
}
FEW = ("tit_for_tat", "cycler")  # in secondary cells that need no more

# --- players --------------------------------------------------------------------------------------


def _model(strategy: str, **params: Any) -> PlayerSpec:
    return player_spec("language", model=OPEN, strategy=strategy, settings=SETTINGS, **params)


LM, SOCIAL, QA = (_model(name) for name in ("lm", "social_lm", "qa"))
CALIBRATED = _model("lm", with_={"calibrated": 1})
ASKED = {"agent": ("their_move",)}
TRUTH = (Injection(Seat("agent"), "their_move"),)
TWIN = {"pack": "repeated_games_twin"}


def _cells(
    kind: str,
    strategy: str,
    player: PlayerSpec,
    probes: Mapping[str, tuple[str, ...]] | None = None,
    partners: Iterable[str] | None = None,
    injections: tuple[Injection, ...] = (),
) -> list[Cell]:
    """Return one cell for each pair of repeated game and partner."""
    return [
        Cell(
            f"{kind}: {game}, {strategy}, {name}",
            instances if kind == "primary" else instances[: SECONDARY[game]],
            ({"agent": player, "partner": {**PARTNERS[game], "constant": _CONSTANT}[name]},),
            dict(probes or {}),
            injections,
        )
        for game, instances in INSTANCES.items()
        for name in (PARTNERS[game] if partners is None else partners)
    ]


def _boxes() -> tuple[Instance, ...]:
    """Return eight instances, each with four boxes in a row; the instances vary which box has the
    odd label and which box is salient."""
    rows = ("BAAA", "AABA", "ABAA", "AAAB", "ABBB", "BBAB", "BABB", "BBBA")
    return tuple(
        instance(
            "hide_and_seek",
            f"hide_and_seek {row}",
            pays={"kind": "boxes", "labels": list(row), "salient": place % 4},
            rounds=10,
            void_limit=10,
        )
        for place, row in enumerate(rows)
    )


def _depths() -> list[Cell]:
    """Return the cells of hide and seek in which the model seeks, against hiders of depth 0 to
    3."""
    return [
        Cell(
            f"secondary: hide_and_seek, {name}, level {k}",
            _boxes(),
            ({"player_1": player_spec("level", k=k), "player_2": player},),
            {} if player is SOCIAL else {"player_2": ("their_move",)},
        )
        for name, player in (("lm", LM), ("social_lm", SOCIAL), ("qa", QA))
        for k in range(4)
    ]


def _certified_cells() -> list[Cell]:
    """Return the cells of the certified scenarios of toma_po, by depth of reasoning."""
    from sally.games.toma.po.game import certified_by_id

    by_depth: dict[int, list[Instance]] = {}
    for id, certificate in certified_by_id().items():
        problem = instance("toma_po", id, scenario=id, level=certificate.scenario.level)
        by_depth.setdefault(certificate.block, []).append(problem)
    return [
        Cell(
            f"secondary: toma_po, {name}, depth {depth}",
            tuple(problems[:24]),
            ({"player": player},),
            {} if player is SOCIAL else {"player": ("their_choice",)},
        )
        for name, player in (("lm", LM), ("social_lm", SOCIAL), ("qa", QA))
        for depth, problems in sorted(by_depth.items())
    ]


STUDY = Study(
    name="knowing_doing",
    about="whether a model acts on what it foresees, beyond habits of pressing keys",
    cells=(
        *_cells("primary", "lm", LM, ASKED),
        *_cells("primary", "social_lm", SOCIAL),
        *_cells("secondary", "lm calibrated", CALIBRATED, ASKED),
        *_cells("secondary", "qa", QA, ASKED),
        *_cells("secondary", "lm", LM, ASKED, ("constant",)),
        *_cells("secondary", "social_lm", SOCIAL, None, ("constant",)),
        *_cells("secondary", "lm not asked", LM, None, FEW),
        *_cells("secondary", "lm twin", _model("lm", **TWIN), ASKED, FEW),
        *_cells("secondary", "social_lm twin", _model("social_lm", **TWIN), None, FEW),
        *_cells("secondary", "oracle", _model("oracle"), None, FEW, TRUTH),
        *_cells("secondary", "oracle_max", _model("oracle_max"), None, FEW, TRUTH),
        *_depths(),
        *_certified_cells(),
    ),
)
