"""Layout of an imported table, given by options or by a TOML file in the table's folder."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.registry import registry
from sally.games.repeated_games.rules import RepeatedGame

FAMILY = "repeated_games"
WIDE = ("episode", "round", "action1", "action2")
WIDE_MORE = ("player1", "player2", "payoff1", "payoff2", "prediction1", "prediction2", "rt1",
             "rt2", "condition")  # fmt: skip
LONG = ("episode", "round", "player", "action")
LONG_MORE = ("payoff", "prediction", "rt", "condition")

Cells = tuple[tuple[tuple[float, float], ...], ...]


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings for reading a table; each field is a key of the TOML file."""

    game: str = ""  # rps, ibs, ipd
    moves: Literal["", "simultaneous", "in turn"] = ""  # must be given: a table does not show it
    matrix: Cells | None = None
    names: tuple[str, ...] = ()
    partner_names: tuple[str, ...] = ()
    infer: bool = False
    rounds: int | None = None
    as_played: bool = False
    stop_chance: float = 0.0
    columns: dict[str, str] = {}  # our name -> the table's
    long: str = ""  # the column with the player's name, if each row is one player's
    partners: dict[str, str] = {}  # player name -> NAME[,param=value] of a Sally partner
    rt: Literal["s", "ms"] = "s"
    skip_bad: bool = False
    allow_differences: bool = False
    source: str = ""  # prefix of the episode names; empty: the file's name
    licence: str = ""

    @property
    def needed(self) -> tuple[str, ...]:
        return LONG if self.long else WIDE

    @property
    def known(self) -> tuple[str, ...]:
        return (*LONG, *LONG_MORE) if self.long else (*WIDE, *WIDE_MORE)

    def column(self, name: str) -> str:
        """Return the name that the table uses for a column."""
        if name == "player" and self.long:
            return self.long
        return self.columns.get(name, name)


def layout_of(table: Path, flags: Mapping[str, Any], matrix: Path | None = None) -> Layout:
    """Return the layout given by options, by a matrix file, or by the TOML file in the table's
    folder.

    Raises:
        BadInput: A file cannot be read, or a value has the wrong type.
    """
    beside = table.with_name(table.name.split(".")[0] + ".toml")
    file = matrix or (beside if beside.is_file() else None)
    told = _read(file) if file is not None else {}
    given = {name: value for name, value in flags.items() if value not in (None, "", (), {}, False)}
    for name in ("columns", "partners"):
        if name in told and name in given:
            given[name] = {**told[name], **given[name]}
    try:
        layout = msgspec.convert({**told, **given}, Layout)
    except msgspec.ValidationError as why:
        raise BadInput(f"{file or 'Table layout'}: {why}") from None
    return layout


def _read(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise BadInput(f"There is no file {file}.")
    try:
        data = file.read_bytes()
        found = (
            msgspec.json.decode(data) if file.suffix == ".json" else tomllib.loads(data.decode())
        )
    except (ValueError, UnicodeDecodeError) as why:
        raise BadInput(f"{file} cannot be read: {why}") from None
    if not isinstance(found, dict):
        raise BadInput(f'{file} should contain keys and values, such as {{"matrix": ...}}.')
    return found


def problems(layout: Layout) -> list[str]:
    """Return everything that is missing, unknown or contradictory in a layout."""
    found = []
    ways = [w for w, on in (("game", layout.game), ("matrix", layout.matrix),
                            ("infer", layout.infer)) if on]  # fmt: skip
    if len(ways) != 1:
        found.append(
            "Give the game in exactly one way: `game` (rps, ibs or ipd), `matrix` or "
            f"`infer`{'; ' + ' and '.join(ways) + ' were given' if ways else ''}."
        )
    if not layout.moves:
        found.append(
            "Did both players choose before they saw the other's move of the round? Give `moves`: "
            "simultaneous, or in turn."
        )
    if layout.moves == "in turn":
        found.append(
            "Moves in turn are not a repeated matrix game: the second player has seen the first "
            "move, so predictions and regret would mean something else; write a game of your own."
        )
    if layout.game and layout.game not in presets():
        found.append(str(unknown("repeated game", layout.game, presets())))
    for name in layout.columns:
        if name not in layout.known:
            found.append(str(unknown("column", name, layout.known)))
    for who in layout.partners.values():
        try:
            bot_of(who)
        except BadInput as why:
            found.append(str(why))
    if layout.as_played and layout.rounds is not None:
        found.append(
            "`rounds` and `as_played` exclude each other: give one length, or each game's own."
        )
    return found


def refuse_problems(layout: Layout) -> None:
    """Raise BadInput listing every problem of a layout, if there are any."""
    if found := problems(layout):
        raise BadInput("\n".join(found))


def presets() -> tuple[str, ...]:
    """Return the names of the predefined repeated games."""
    return tuple(registry.entries("games")[FAMILY].presets)


def params_of(layout: Layout) -> dict[str, Any]:
    """Return the game's parameters except the number of rounds."""
    params: dict[str, Any] = {}
    if layout.matrix is not None:
        params["matrix"] = [[[*cell] for cell in row] for row in layout.matrix]
    for name in ("names", "partner_names"):
        if given := getattr(layout, name):
            params[name] = list(given)
    if layout.stop_chance:
        params["stop_chance"] = layout.stop_chance
    return params


def game_of(layout: Layout, rounds: int) -> RepeatedGame:
    """Return the rules of a layout's game with this number of rounds."""
    spec = registry.game(layout.game or FAMILY)
    game = spec.build({**params_of(layout), "rounds": rounds})
    assert isinstance(game, RepeatedGame)
    return game


def bot_of(told: str) -> tuple[str, dict[str, Any]]:
    """Convert `tit_for_tat,first=1` to a registered partner's name and parameters."""
    name, *rest = told.split(",")
    partner = registry.pick("partner", name, registry.partners(FAMILY))
    params: dict[str, Any] = {}
    for each in rest:
        key, equals, value = each.partition("=")
        if not equals or key not in partner.params:
            raise unknown(f"parameter of {name}", key, partner.params)
        try:
            params[key] = msgspec.json.decode(value.encode())
        except msgspec.DecodeError:
            params[key] = value
    return name, params


def pairs(given: Sequence[str], option: str) -> dict[str, str]:
    """Parse `a=b` options into a mapping."""
    found = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name or not value:
            raise BadInput(f"{option} takes NAME=VALUE, not {each!r}.")
        found[name] = value
    return found
