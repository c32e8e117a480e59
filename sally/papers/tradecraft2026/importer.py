"""Importer of published TradeCraft games: recorded moves, replayed under Sally's rules.

A record is replayed until it ends, is cut off, or relies on an error of the public server. After
such an error, recorded and replayed hands differ, so the episode is censored there. Differences are
listed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput, IllegalMove
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.registry.paper import Importer, ImportResult
from sally.core.rules.game import Seat
from sally.games.tradecraft import GAME
from sally.games.tradecraft.actions import (
    ACCEPT,
    DONE,
    LONGEST,
    PASS,
    REJECT,
    Answer,
    Craft,
    Propose,
)
from sally.games.tradecraft.hands import Hand, read_goods
from sally.games.tradecraft.rules import TradeCraft
from sally.games.tradecraft.rulesets import shipped_ruleset
from sally.papers.tradecraft2026.published_logs import Goods, LoggedEvent, Record, read_record
from sally.parts.importers import (
    HUMAN,
    Difference,
    ImportRun,
    Oddity,
    Source,
    existing,
    recorded_player,
)

SOURCE, LICENCE = "github.com/TradeCraft-team/TradeCraft", "MIT (c) 2024 WangJunqi"
TASKS = "1p_v_1p/game_task.json"
MAX_TURNS = 30
CUT, SLIP = "log cut", "server slip"
Task = tuple[tuple[Goods, ...], tuple[Goods, ...]]  # hands and targets


def import_games(path: Path) -> ImportResult:
    """Import every recorded game under a path."""
    tasks = _tasks(path)
    run = ImportRun()
    files_by_id: dict[str, Path] = {}
    for file in _files(path):
        with run.listing_errors(str(file)):
            record = read_record(file)
            run.counts["found"] += 1
            if (first_file := files_by_id.setdefault(record.id, file)) is not file:
                run.oddities.append(Oddity(str(file), "copy", _why_copy(file, first_file)))
                continue
            played = _RecordedMatch(record, _problem(record, tasks))
            try:
                played.play()
            except Exception as error:
                strange = "its events are not in the order of the published logs"
                raise BadInput(strange) from error
            if not record.raw:  # the published counts are of the rebuilt logs
                run.counts.update(_tally(record, played.result))
            run.add(played.episode(), played.differences, played.counts)
    return run.result(allow_empty=True)


def _files(path: Path) -> list[Path]:
    if existing(path).is_file():
        return [path]
    files = [*path.rglob("TradeCraft.Duo_*-log.md"), *path.rglob("Duo_*.json")]
    if not files:
        raise BadInput(f"{path} contains no game log of TradeCraft (TradeCraft.Duo_*-log.md).")
    # Of two logs of one game the rebuilt one comes first, because the figures rest on it.
    return sorted(files, key=lambda file: (file.suffix == ".json", str(file)))


def _why_copy(file: Path, first_file: Path) -> str:
    """Return why a log is left out as a copy; a checkout has 90 of its logs in two folders."""
    sameness = "byte for byte" if file.read_bytes() == first_file.read_bytes() else "the game of"
    return f"{sameness} {first_file.parent.name}/{first_file.name}, which is imported instead"


def _tasks(path: Path) -> list[Task]:
    """Return the public problems of the checkout that contains the logs; an empty list if there is
    no checkout."""
    for place in (path, *path.absolute().parents):
        inside = [place] if place == path else [place / "tradeCraft"]
        for folder in inside:
            for file in sorted(folder.rglob(TASKS)) if folder.is_dir() else ():
                try:
                    listed = json.loads(file.read_text("utf-8"))
                    return [
                        (tuple(map(_plain, task["hands"])), tuple(map(_plain, task["targets"])))
                        for task in listed
                    ]
                except (ValueError, LookupError, TypeError, AttributeError) as error:
                    raise BadInput(
                        f"{file} does not list the public problems: {error!r}."
                    ) from None
    return []


def _plain(goods: dict[str, Any]) -> Goods:
    return {item.rpartition(":")[2]: str(amount) for item, amount in goods.items()}


def _problem(record: Record, tasks: Sequence[Task]) -> Task:
    """Return the hands and targets of the players; a markdown log names only targets."""
    if len(record.names) != 2:
        raise BadInput(f"{len(record.names)} player(s), but a game needs two.")
    if record.hands:
        return record.hands, record.targets
    for hands, targets in tasks:
        if targets == record.targets:
            return hands, targets
        if targets[::-1] == record.targets:
            return hands[::-1], targets[::-1]
    targets_text = " and ".join(" ".join(target) for target in record.targets)
    raise BadInput(
        "the log does not state the players' hands, and no public problem has the targets "
        f"{targets_text}; the checkout must contain tradeCraft/.../{TASKS}."
    )


def _tally(record: Record, winners: Sequence[str] | None) -> Counter[str]:
    """Count the events of a log, including server errors, for comparison with the published
    counts."""
    kinds = Counter(event.kind for event in record.events)
    counts = Counter[str]()
    counts["proposals"] = kinds["submit_proposal"]
    counts["invalid proposals"] = kinds["proposal_invalid"]
    for event in record.events:
        if event.kind == "approval_or_reject":
            counts["accepted" if event.text.lower() == ACCEPT else "rejected"] += 1
        elif event.kind == "craft_recipe_validity":
            counts[f"checks: {event.text}"] += 1
    counts["applies"] = kinds["craft_recipe_apply"]
    if winners is not None:
        won = {("p1",): "first player", ("p2",): "second player", (): "nobody"}
        counts[f"won by {won.get(tuple(winners), 'both')}"] += 1
    return counts


class _ServerError(Exception):
    """Raised where the record relies on an error of the public server."""


class _Phase:
    """Both players' actions in one craft phase."""

    def __init__(self, names: Sequence[str]) -> None:
        self.moves: dict[str, list[Any]] = {name: [] for name in names}
        self.hands: dict[str, Goods] = {}  # after `done`


class _RecordedMatch:
    """A match that is replayed from a record, with a list of what differs from the record."""

    def __init__(self, record: Record, task: Task) -> None:
        self.record = record
        self.seat = {name: f"p{n}" for n, name in enumerate(record.names, 1)}
        first = record.names.index(record.first) if record.first in record.names else 0
        hands, targets = ([{i: int(a) for i, a in lot.items()} for lot in side] for side in task)
        params = {"hands": hands, "targets": targets, "max_turns": MAX_TURNS}
        if first:
            params["first"] = first
        core_items = shipped_ruleset("minecraft_core").item_set
        if extra := sorted({item for hand in hands for item in hand} - core_items):
            params["extra"] = extra
        name = f"tradecraft:{record.pairing}:{record.id}"
        lineup = {self.seat[name]: _player(record, name) for name in record.names}
        setup = Setup(Instance(name, "tradecraft", params), 0, lineup)
        self.match: Match = Match(GAME, setup)
        self.differences: list[Difference] = []
        self.counts: Counter[str] = Counter()
        self.used: Counter[str] = Counter()
        self.empty_answers: list[dict[str, str]] = []
        self.checked: dict[
            str, tuple[LoggedEvent, bool]
        ] = {}  # the last craft check of each player
        self.open_checks: list[LoggedEvent] = []
        self.open_hands: list[tuple[str, str]] = []  # players without a logged hand, after what
        self.result: list[str] | None = None

    # --- the record, event by event -----------------------------------------------------------

    def play(self) -> None:
        events = self.record.events
        results = [event.text for event in events if event.kind == "game_over"]
        if results:
            self.result = [self.seat[name] for name in results[-1].split(",") if name in self.seat]
        turns = [n for n, event in enumerate(events) if event.kind == "turn"]
        try:
            for start, end in zip(turns, [*turns[1:], len(events)], strict=True):
                if self.match.over or not self._turn(events[start:end]):
                    break
        except _ServerError as slip:
            self.counts[f"slip: {slip}"] += 1
            recorded, ours = "played on", "censored"
            self._differ(f"server slip {slip}", recorded, ours)
            self.match.censor(SLIP, str(slip))
        if not self.match.over:
            self.match.censor(CUT)
            self.counts["cut"] += 1
        self._compare_result()

    def _turn(self, events: Sequence[LoggedEvent]) -> bool:
        """Play one turn; return False if the log ends in the middle of it."""
        if not self._trade(events):
            return False
        phase = _Phase(self.record.names)
        for event in events:
            self._craft_event(event, phase)
        if any(DONE not in moves for moves in phase.moves.values()):
            self._feed(phase)
            return False
        self._feed(phase)
        self._compare_hands(phase)
        return True

    def _trade(self, events: Sequence[LoggedEvent]) -> bool:
        """Play the valid proposal and its answer; return False if the log has no answer yet."""
        proposal: LoggedEvent | None = None
        for event in events:
            if event.kind == "submit_proposal":
                proposal = event
            elif event.kind == "proposal_invalid":
                proposal = None
                self.used["invalid proposals"] += 1
            elif event.kind == "approval_or_reject":
                return self._settle(proposal, event)
        if proposal is not None:
            return False  # not answered yet
        if any(event.kind == "craft_done" for event in events):
            self._give(self._proposer(), PASS)
            return True
        return False

    def _settle(self, proposal: LoggedEvent | None, decision: LoggedEvent) -> bool:
        if proposal is None:
            raise LookupError("an answer without a valid proposal")
        self.used["messages shortened"] += sum(
            len(m.message) > LONGEST for m in (proposal, decision)
        )
        proposer, decider = self.seat[proposal.who], self.seat[decision.who]
        action = Propose(
            decider,
            tuple(proposal.offer.items()),
            tuple(proposal.request.items()),
            proposal.message[:LONGEST],
        )
        try:
            self._give(proposer, action)
        except IllegalMove as error:
            raise _ServerError(f"proposal ({error})") from None
        accepted = decision.text.lower() == ACCEPT
        if not proposal.offer and not proposal.request:
            self.empty_answers.append(
                {"seat": decider, "answer": decision.text, "message": decision.message}
            )
            return True
        if accepted and decision.text != ACCEPT:
            raise _ServerError("case")
        self._give(decider, Answer(ACCEPT if accepted else REJECT, decision.message[:LONGEST]))
        return True

    def _craft_event(self, event: LoggedEvent, phase: _Phase) -> None:
        match event.kind:
            case "craft_recipe_check":
                self.open_checks.append(event)
                self.used["checks"] += 1
            case "craft_recipe_validity":
                check = self.open_checks.pop(0)
                self.checked[check.who] = check, event.text == "good"
                self.used[f"{event.text} checks"] += 1
            case "craft_recipe_apply":
                self.open_hands.append((event.who, "apply"))
            case "phase_error":
                index = next(
                    n for n, (_, purpose) in enumerate(self.open_hands) if purpose == "apply"
                )
                del self.open_hands[index]
                self.used["applies refused"] += 1
            case "craft_done":
                self.open_hands.append((event.who, "done"))
            case "private_hand_change":
                name, purpose = self.open_hands.pop(0)
                phase.moves[name].append(DONE if purpose == "done" else self._craft(name))
                if purpose == "done":
                    phase.hands[name] = event.request

    def _craft(self, name: str) -> Craft | str:
        """Return the craft that was applied; raises _Slip if only a server error allowed it."""
        check, good = self.checked[name]
        if not good:
            return "apply"
        output, amount = next(iter(check.request.items()))
        whole_amount = int(amount) if amount.isdecimal() else 0
        return Craft(tuple(check.offer.items()), output, whole_amount) if whole_amount else "apply"

    # --- into the match -----------------------------------------------------------------------

    def _proposer(self) -> str:
        return str(self.match.game.to_move(self.match.state)[0])

    def _give(self, seat: str, action: Any) -> None:
        self.match.move(seat, action)
        self.counts["moves"] += 1

    def _feed(self, phase: _Phase) -> None:
        """Play the crafts of both players, each player's in order, until the log ends."""
        rows = {self.seat[name]: list(moves) for name, moves in phase.moves.items()}
        while not self.match.over and self.match.state.phase == "craft":
            movers = [str(seat) for seat in self.match.game.to_move(self.match.state)]
            if not all(rows[seat] for seat in movers):
                return
            for seat in movers:
                self._give_craft(seat, rows[seat].pop(0))

    def _give_craft(self, seat: str, move: Any) -> None:
        if isinstance(move, str):
            raise _ServerError(move)
        if isinstance(move, Craft):
            game = self.match.game
            assert isinstance(game, TradeCraft)
            hand = self.match.state.hands[game.number[Seat(seat)]]
            if isinstance(game.crafting(hand, move), str):
                raise _ServerError(
                    "surplus"
                )  # accepted by the server's check, but not by the recipe
        self._give(seat, move)

    # --- what came out the same ---------------------------------------------------------------

    def _differ(self, subject: str, recorded: str, ours: str) -> None:
        turn = int(self.match.state.turn)
        self.differences.append(Difference(self.record.file, subject, turn, recorded, ours))

    def _compare_hands(self, phase: _Phase) -> None:
        for n, name in enumerate(self.record.names):
            ours, recorded_hand = self.match.state.hands[n], Hand(read_goods(phase.hands[name]))
            self.counts["hands"] += 1
            if ours == recorded_hand:
                self.counts["hands as recorded"] += 1
            else:
                self._differ("hand", repr(recorded_hand), repr(ours))

    def _compare_result(self) -> None:
        state = self.match.state
        if self.result is None or state.phase != "over":
            return
        self.counts["results"] += 1
        if sorted(state.winners) == sorted(self.result):
            self.counts["results as recorded"] += 1
        else:
            self._differ("result", ", ".join(self.result), ", ".join(state.winners))

    def episode(self) -> Episode:
        used: dict[str, Any] = {
            "source": msgspec.to_builtins(
                Source.of(SOURCE, LICENCE, self.record.file, self.record.data)
            ),
            "players": {self.seat[name]: name for name in self.record.names},
            **{kind.replace(" ", "_"): n for kind, n in sorted(self.used.items())},
        }
        if self.empty_answers:
            used["answers_to_empty_proposals"] = self.empty_answers
        if self.result is not None:
            used["recorded_winners"] = self.result
        return self.match.episode(self.record.pairing, used)


def _player(record: Record, name: str) -> PlayerSpec:
    """Return the recorded player called `name`.

    In a pairing such as `4o_vs_cl` it is the model named on that side; in a raw log, a model or a
    person.
    """
    sides = record.pairing.split("_vs_")
    if len(sides) == 2 and name[-1:] in "12":
        return recorded_player(sides[int(name[-1]) - 1])
    return recorded_player(name.partition("-player")[0] if "-player" in name else HUMAN)


IMPORTER = Importer(
    "tradecraft", "published games of the TradeCraft project, as logged", import_games
)
