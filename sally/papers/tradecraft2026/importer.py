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
from sally.parts.imported import (
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


def imported(path: Path) -> ImportResult:
    """Import every recorded game under a path."""
    tasks = _tasks(path)
    taken = ImportRun()
    seen: dict[str, Path] = {}
    for file in _files(path):
        with taken.listing_errors(str(file)):
            record = read_record(file)
            taken.counts["found"] += 1
            if (before := seen.setdefault(record.id, file)) is not file:
                taken.oddities.append(Oddity(str(file), "copy", _why_copy(file, before)))
                continue
            played = _RecordedMatch(record, _problem(record, tasks))
            try:
                played.play()
            except Exception as error:
                strange = "its events are not in the order of the published logs"
                raise BadInput(strange) from error
            if not record.raw:  # the published counts are of the rebuilt logs
                taken.counts.update(_tally(record, played.result))
            taken.add(played.episode(), played.differences, played.counts)
    return taken.result(allow_empty=True)


def _files(path: Path) -> list[Path]:
    if existing(path).is_file():
        return [path]
    found = [*path.rglob("TradeCraft.Duo_*-log.md"), *path.rglob("Duo_*.json")]
    if not found:
        raise BadInput(f"{path} contains no game log of TradeCraft (TradeCraft.Duo_*-log.md).")
    # Of two logs of one game the rebuilt one comes first, because the figures rest on it.
    return sorted(found, key=lambda file: (file.suffix == ".json", str(file)))


def _why_copy(file: Path, before: Path) -> str:
    """Return why a log is left out as a copy; a checkout has 90 of its logs in two folders."""
    same = "byte for byte" if file.read_bytes() == before.read_bytes() else "the game of"
    return f"{same} {before.parent.name}/{before.name}, which is imported instead"


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
                        (tuple(map(_plain, each["hands"])), tuple(map(_plain, each["targets"])))
                        for each in listed
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
    wanted = " and ".join(" ".join(target) for target in record.targets)
    raise BadInput(
        "the log does not state the players' hands, and no public problem has the targets "
        f"{wanted}; the checkout must contain tradeCraft/.../{TASKS}."
    )


def _tally(record: Record, winners: Sequence[str] | None) -> Counter[str]:
    """Count the events of a log, including server errors, for comparison with the published
    counts."""
    kinds = Counter(event.kind for event in record.events)
    found = Counter[str]()
    found["proposals"] = kinds["submit_proposal"]
    found["invalid proposals"] = kinds["proposal_invalid"]
    for event in record.events:
        if event.kind == "approval_or_reject":
            found["accepted" if event.text.lower() == ACCEPT else "rejected"] += 1
        elif event.kind == "craft_recipe_validity":
            found[f"checks: {event.text}"] += 1
    found["applies"] = kinds["craft_recipe_apply"]
    if winners is not None:
        won = {("p1",): "first player", ("p2",): "second player", (): "nobody"}
        found[f"won by {won.get(tuple(winners), 'both')}"] += 1
    return found


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
        known = shipped_ruleset("minecraft_core").known
        if extra := sorted({item for hand in hands for item in hand} - known):
            params["extra"] = extra
        name = f"tradecraft:{record.pairing}:{record.id}"
        lineup = {self.seat[who]: _player(record, who) for who in record.names}
        setup = Setup(Instance(name, "tradecraft", params), 0, lineup)
        self.match: Match[Any, Any, Any] = Match(GAME, setup)
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
        over = [event.text for event in events if event.kind == "game_over"]
        if over:
            self.result = [self.seat[who] for who in over[-1].split(",") if who in self.seat]
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
        made: LoggedEvent | None = None
        for event in events:
            if event.kind == "submit_proposal":
                made = event
            elif event.kind == "proposal_invalid":
                made = None
                self.used["invalid proposals"] += 1
            elif event.kind == "approval_or_reject":
                return self._settle(made, event)
        if made is not None:
            return False  # not answered yet
        if any(event.kind == "craft_done" for event in events):
            self._give(self._proposer(), PASS)
            return True
        return False

    def _settle(self, made: LoggedEvent | None, said: LoggedEvent) -> bool:
        if made is None:
            raise LookupError("an answer without a valid proposal")
        self.used["messages shortened"] += sum(len(m.message) > LONGEST for m in (made, said))
        proposer, decider = self.seat[made.who], self.seat[said.who]
        action = Propose(
            decider, tuple(made.offer.items()), tuple(made.request.items()), made.message[:LONGEST]
        )
        try:
            self._give(proposer, action)
        except IllegalMove as error:
            raise _ServerError(f"proposal ({error})") from None
        accepted = said.text.lower() == ACCEPT
        if not made.offer and not made.request:
            self.empty_answers.append(
                {"seat": decider, "answer": said.text, "message": said.message}
            )
            return True
        if accepted and said.text != ACCEPT:
            raise _ServerError("case")
        self._give(decider, Answer(ACCEPT if accepted else REJECT, said.message[:LONGEST]))
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
                asked = next(n for n, (_, why) in enumerate(self.open_hands) if why == "apply")
                del self.open_hands[asked]
                self.used["applies refused"] += 1
            case "craft_done":
                self.open_hands.append((event.who, "done"))
            case "private_hand_change":
                who, why = self.open_hands.pop(0)
                phase.moves[who].append(DONE if why == "done" else self._craft(who))
                if why == "done":
                    phase.hands[who] = event.request

    def _craft(self, who: str) -> Craft | str:
        """Return the craft that was applied; raises _Slip if only a server error allowed it."""
        check, good = self.checked[who]
        if not good:
            return "apply"
        output, amount = next(iter(check.request.items()))
        whole = int(amount) if amount.isdecimal() else 0
        return Craft(tuple(check.offer.items()), output, whole) if whole else "apply"

    # --- into the match -----------------------------------------------------------------------

    def _proposer(self) -> str:
        return str(self.match.game.to_move(self.match.state)[0])

    def _give(self, seat: str, action: Any) -> None:
        self.match.move(seat, action)
        self.counts["moves"] += 1

    def _feed(self, phase: _Phase) -> None:
        """Play the crafts of both players, each player's in order, until the log ends."""
        rows = {self.seat[who]: list(moves) for who, moves in phase.moves.items()}
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

    def _differ(self, what: str, recorded: str, ours: str) -> None:
        turn = int(self.match.state.turn)
        self.differences.append(Difference(self.record.file, what, turn, recorded, ours))

    def _compare_hands(self, phase: _Phase) -> None:
        for n, who in enumerate(self.record.names):
            ours, theirs = self.match.state.hands[n], Hand(read_goods(phase.hands[who]))
            self.counts["hands"] += 1
            if ours == theirs:
                self.counts["hands as recorded"] += 1
            else:
                self._differ("hand", repr(theirs), repr(ours))

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
            "players": {self.seat[who]: who for who in self.record.names},
            **{what.replace(" ", "_"): n for what, n in sorted(self.used.items())},
        }
        if self.empty_answers:
            used["answers_to_empty_proposals"] = self.empty_answers
        if self.result is not None:
            used["recorded_winners"] = self.result
        return self.match.episode(self.record.pairing, used)


def _player(record: Record, who: str) -> PlayerSpec:
    """Return the recorded player called `who`.

    In a pairing such as `4o_vs_cl` it is the model named on that side; in a raw log, a model or a
    person.
    """
    sides = record.pairing.split("_vs_")
    if len(sides) == 2 and who[-1:] in "12":
        return recorded_player(sides[int(who[-1]) - 1])
    return recorded_player(who.partition("-player")[0] if "-player" in who else HUMAN)


IMPORTER = Importer("tradecraft", "published games of the TradeCraft project, as logged", imported)
