"""Importer of the Hanabi games of Eger et al. 2017: people with three AIs, moves as recorded.

The published game allowed discards with all hint tokens, so the imported games have
`discard_at_full`. In a few games a person's click was carried out in the AI's seat; such a game is
censored at the first such move.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, Setup
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.registry.paper import Importer, ImportOption, ImportResult
from sally.games.hanabi.rules import SEATS, Hanabi
from sally.papers.eger2017.reader import (
    COLOUR_HINT,
    COLOURS,
    DISCARD,
    GAME_FILE,
    PEOPLE,
    PLAY,
    Game,
    Move,
    find,
    person_of,
    read_game,
)
from sally.parts.importers import HUMAN, Difference, ImportRun, Oddity, recorded_player

AI, PERSON = SEATS[:2]
SLIPPED = "the seats slip: a click of the person was carried out in the AI's seat"


def setup_of(game: Game, person: str) -> Setup:
    """Return the setup of a logged game: its deal and its players."""
    params: dict[str, Any] = {
        "players": 2,
        "deck": [len(COLOURS) * colour + rank - 1 for colour, rank in game.deck],
        "score": "kept",
        "discard_at_full": True,
    }
    lineup = {str(AI): recorded_player(game.ai), str(PERSON): recorded_player(HUMAN)}
    return Setup(Instance(f"hanabidata:{person}:{game.id}", "hanabi", params), 0, lineup)


def action_of(rules: Hanabi, move: Move) -> int:
    """Return a recorded move as an action of the rules."""
    if move.kind == PLAY:
        assert move.slot is not None
        return rules.play(move.slot)
    if move.kind == DISCARD:
        assert move.slot is not None
        return move.slot
    value = move.colour if move.kind == COLOUR_HINT else len(COLOURS) + (move.rank or 0) - 1
    assert value is not None
    return rules.hint(1, value)


def as_episode(
    game: Game, person: str, survey: Mapping[str, str]
) -> tuple[Episode, list[Difference], dict[str, int]]:
    """Return one game replayed under the rules, with its differences and counts."""
    setup = setup_of(game, person)
    match: Match[Any, int, Any] = Match(registry.game("hanabi"), setup, ask_nature=True)
    rules = match.game
    assert isinstance(rules, Hanabi)
    name, differs, at_full = setup.instance.id, [], 0
    for n, move in enumerate(game.moves[: game.slip], 1):
        if match.over:
            differs.append(Difference(name, "length", n, "goes on", "is over"))
            break
        seat = rules.seats[move.player]
        if rules.to_move(match.state) != (seat,):
            raise BadInput(f"{game.source.file}: move {n} is out of turn.")
        action = action_of(rules, move)
        at_full += move.kind == DISCARD and match.state.tokens == rules.hints
        if action not in rules.options(match.state, seat):
            raise BadInput(f"{game.source.file}: move {n} is not legal.")
        match.move(seat, action)
    score = sum(match.state.piles)
    if game.slip is not None:
        match.censor("server slip", f"{SLIPPED} at move {game.slip + 1} of {len(game.moves)}")
    elif not match.over:
        raise BadInput(
            f"{game.source.file} stops after {len(game.moves)} moves, before the game is over; "
            "the file may be truncated."
        )
    elif score != game.score:
        differs.append(Difference(name, "score", None, str(game.score), str(score)))
    used = {
        "source": msgspec.to_builtins(game.source),
        "seed of the deck": game.seed,
        "colours": dict(zip(map(str, range(len(COLOURS))), COLOURS, strict=True)),
        "previous": game.previous_game,
        "recorded_score": game.score,
        "recorded_lives_lost": game.lives_lost,
        "people": {str(PERSON): {"survey": dict(survey), "survey after": person}},
    }
    counts = {
        "moves": len(game.moves[: game.slip]),
        f"games with {game.ai}": 1,
        "games cut where the seats slip": int(game.slip is not None),
        "discards with all tokens": at_full,
        "games with a discard at all tokens": int(at_full > 0),
    }
    return match.episode(game.ai, used), differs, counts


def import_games(path: Path, skip_bad: bool = False) -> ImportResult:
    """Import every recorded game under a path.

    Raises:
        BadInput: A log is truncated or altered, and `skip_bad` is not set.
    """
    logs = find(path)
    run = ImportRun(logs.oddities, {"found": len(logs.files)})
    games: dict[str, Game] = {}
    chain: dict[str, str] = {}
    for file in logs.files:
        with run.listing_errors(file.name) if skip_bad else nullcontext():
            game = read_game(file)
            games[game.id], chain[game.id] = game, game.previous_game
    if path.is_file():  # its chain leads through the other logs of the folder
        for file in path.parent.glob("game*.log"):
            if (name_match := GAME_FILE.fullmatch(file.name)) and name_match[1] not in chain:
                chain[name_match[1]] = read_game(file).previous_game
    people: set[str] = set()
    for game in games.values():
        with run.listing_errors(game.source.file) if skip_bad else nullcontext():
            person = person_of(game.id, chain, logs.surveys)
            run.add(*as_episode(game, person, logs.surveys[person]))
            people.add(person)
            if game.slip is not None:
                reason = f"{SLIPPED} at move {game.slip + 1}"
                run.oddities.append(Oddity(game.source.file, "cut", reason))
    run.counts.update({"people": len(people), "people in the full record": PEOPLE})
    return run.result()


IMPORTER = Importer(
    "eger2017",
    "people with three AIs at Hanabi (Eger et al. 2017)",
    import_games,
    options=(ImportOption("skip_bad", "Skip logs that are truncated or altered."),),
)
