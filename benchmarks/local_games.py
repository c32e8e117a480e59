"""Figures of the two small models in bargaining, the step race and cipher, as Markdown tables.

    python benchmarks/local_games.py docs/results/bundles [bargaining | step_race | cipher] > FILE

Nothing is played: every figure is computed from the shipped bundles. Habits come first, then what
was foreseen beside what a simple rule foresees, then what was done beside mindless players of the
same study. Intervals are 95%, with instances as clusters.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec

from sally import store
from sally.core.log.events import Forfeited, Moved, Reported
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.game import Seat as SeatName
from sally.core.rules.metric import Played
from sally.games.bargaining.spec import limit_of
from sally.games.cipher.metrics import Split, splits
from sally.games.cipher.rules import ENCODER
from sally.metrics.answers import list_counted_reports
from sally.stats.cluster_interval import ratio_by_rule
from sally.store.bundles import open_store

SIZES = ("0.5b", "1.5b")
PERCENT = (0.0, 100.0)
Seat = tuple[Played, SeatName]
Pair = tuple[float, float]  # numerator and denominator of one seat


def seats(path: Path) -> list[Seat]:
    """Return the studied seats of a bundle: those of a model, or of a player in its place."""
    played_seats = []
    with open_store(path) as (place, _):
        for episode in store.load(place, quarantine=False).episodes.values():
            minds = [s for s, player in episode.setup.lineup.items() if player.player == "language"]
            spec = registry.game(episode.setup.instance.game)
            played = Played(spec, episode, replay_episode(spec, episode))
            probed_seats = [s for s, probes in episode.setup.arms.items() if probes]
            played_seats += [(played, SeatName(seat)) for seat in (minds or probed_seats)]
    return played_seats


def name_of(played_seat: Seat, size: str) -> str:
    player = played_seat[0].episode.setup.lineup[played_seat[1]]
    return f"qwen-{size}" if player.player == "language" else player.player


def show(rows: Sequence[Seat], of: Callable[[Seat], Pair | None], bounds: Any, places: int) -> str:
    """Return a ratio of sums over seats, with its interval over instances."""
    pairs = [(of(played_seat), played_seat[0].episode.setup.instance.id) for played_seat in rows]
    counted = [(*pair, unit) for pair, unit in pairs if pair is not None and pair[1]]
    if not counted:
        return "-"
    tops, bottoms, units = zip(*counted, strict=True)
    estimate = ratio_by_rule(tops, bottoms, units, bounds)
    value = f"{estimate.value:.{places}f}"
    if estimate.interval is None:
        return f"{value} (no interval)"
    return f"{value} [{estimate.interval[0]:.{places}f}, {estimate.interval[1]:.{places}f}]"


def share(holds: Callable[[Any], bool], of: Callable[[Seat], Sequence[Any]]) -> Any:
    def pair(played_seat: Seat) -> Pair:
        cases = of(played_seat)
        return 100.0 * sum(map(holds, cases)), float(len(cases))

    return pair


def metric(name: str) -> Callable[[Seat], Pair | None]:
    def pair(played_seat: Seat) -> Pair | None:
        played, seat = played_seat
        measured = registry.metrics(played.spec.family or played.spec.name)[name].measure(
            played, seat
        )
        return None if measured is None else (measured, 1.0)

    return pair


def table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for line in lines:
        yield f"| {' | '.join(line)} |"
    yield ""


def moves(played_seat: Seat) -> list[Any]:
    """Return the moves of a seat that are no messages."""
    played, seat = played_seat
    events = [e for e in played.episode.events if isinstance(e, Moved) and e.seat == seat]
    return [e.action for e in events if isinstance(e.action, int)]


def list_repeats(played_seat: Seat) -> list[bool]:
    own_moves = moves(played_seat)
    return [first == second for first, second in pairwise(own_moves)]


def answers(played_seat: Seat, probe: str) -> list[Any]:
    """Return the scored answers of a seat to one probe."""
    return [
        a
        for a in list_counted_reports(*played_seat)
        if a.question.probe == probe and a.report.value is not None and a.truth is not None
    ]


def unread(rows: Sequence[Seat], probe: str) -> str:
    events = [
        e
        for played, seat in rows
        for e in played.episode.events
        if isinstance(e, Reported) and e.seat == seat and e.probe == probe
    ]
    n_unread = sum(e.value is None for e in events)
    return f"{n_unread} of {len(events)}" if events else "-"


def as_last(played_seat: Seat, probe: str) -> list[bool]:
    """Return whether the truth was that of the last answer about the same player."""
    last: dict[str, Any] = {}
    hits = []
    for a in answers(played_seat, probe):
        if a.question.about in last:
            hits.append(last[a.question.about] == a.truth)
        last[a.question.about] = a.truth
    return hits


def rate(rows: Sequence[Seat], holds: Callable[[Any], bool], probe: str) -> str:
    """Return the share of answers to a probe of which something holds, in percent."""
    return show(rows, share(holds, lambda played_seat: answers(played_seat, probe)), PERCENT, 1)


def last_quotes(played_seat: Seat) -> list[bool]:
    return as_last(played_seat, "their_quote")


def right(a: Any) -> bool:
    return bool(a.report.value == a.truth)


def by_player(played_seats: Sequence[Seat], size: str) -> dict[tuple[str, str], list[Seat]]:
    """Return the seats by role and player."""
    groups: dict[tuple[str, str], list[Seat]] = {}
    for played_seat in played_seats:
        groups.setdefault((played_seat[1], name_of(played_seat, size)), []).append(played_seat)
    return groups


def bargaining(folder: Path) -> Iterator[str]:
    habits, predictions, done, listed = [], [], [], set[tuple[str, str]]()
    for size in SIZES:
        groups = by_player(seats(folder / f"bargaining-{size}.sally.zip"), size)
        for (seat, name), rows in sorted(groups.items()):
            row_head = [name, seat, str(len(rows))]
            if (seat, name) in listed:  # scripted players are the same in both bundles
                continue
            listed.add((seat, name))
            quotes = Counter(q for played_seat in rows for q in moves(played_seat))
            top_quote, times = quotes.most_common(1)[0]
            often = f"{top_quote} ({100 * times / quotes.total():.0f}%)"
            habits.append([*row_head, str(quotes.total()), often, str(len(quotes)),
                           show(rows, share(bool, list_repeats), PERCENT, 0),
                           show(rows, share(bool, own_limit), PERCENT, 0),
                           show(rows, metric("irrational_quotes"), (0.0, 1.0), 2)])  # fmt: skip
            done.append([*row_head, show(rows, metric("payoff_per_round"), None, 1),
                         show(rows, metric("doing_optimum"), None, 2),
                         show(rows, metric("doing_hindsight"), None, 2),
                         show(rows, metric("trade_rate"), (0.0, 1.0), 2)])  # fmt: skip
            if name.startswith("qwen"):
                predictions.append([*row_head,
                              rate(rows, right, "their_quote"),
                              show(rows, share(bool, last_quotes), PERCENT, 1),
                              show(rows, distance("their_value"), None, 1),
                              show(rows, fixed_distance, None, 1),
                              rate(rows, right, "would_trade_at"),
                              rate(rows, is_yes, "would_trade_at"),
                              rate(rows, right, "will_keep"),
                              rate(rows, is_yes, "will_keep"),
                              ])  # fmt: skip
    yield "Bargaining, habits of quoting:\n"
    yield from table(("player", "seat", "n", "quotes", "most frequent quote", "different quotes",
                      "repeats its own last quote %", "quotes its own limit %",
                      "irrational"), habits)  # fmt: skip
    yield "Bargaining, predictions:\n"
    yield from table(("player", "seat", "n", "their quote %", "as last time %",
                      "their value, error", "error of always 50", "would trade at %",
                      "says yes %", "will keep %", "says yes %"), predictions)  # fmt: skip
    yield "Bargaining, play:\n"
    yield from table(("player", "seat", "n", "payoff per round", "doing, optimum",
                      "doing, hindsight", "trades"), done)  # fmt: skip


def is_yes(a: Any) -> bool:
    return bool(a.report.value == "yes")


def own_limit(played_seat: Seat) -> list[bool]:
    played, seat = played_seat
    limit = limit_of(played.replay.present, seat)
    return [quote == limit for quote in moves(played_seat)]


def distance(probe: str) -> Callable[[Seat], Pair]:
    def pair(played_seat: Seat) -> Pair:
        scored = answers(played_seat, probe)
        return float(sum(abs(a.report.value - a.truth) for a in scored)), float(len(scored))

    return pair


def fixed_distance(played_seat: Seat) -> Pair:
    scored = answers(played_seat, "their_value")
    return float(sum(abs(50 - a.truth) for a in scored)), float(len(scored))


def step_race(folder: Path) -> Iterator[str]:
    habits, done, listed = [], [], set[str]()
    for size in SIZES:
        played_seats = seats(folder / f"step_game-{size}.sally.zip")
        names = sorted({name_of(played_seat, size) for played_seat in played_seats})
        for name in names:
            rows = [
                played_seat for played_seat in played_seats if name_of(played_seat, size) == name
            ]
            if name in listed:
                continue
            listed.add(name)
            row_head = [name, str(len(rows))]
            move_counts = Counter(m for played_seat in rows for m in moves(played_seat))
            shares = [f"{100 * move_counts[m] / move_counts.total():.0f}" for m in (1, 3, 5)]
            forfeits = sum(isinstance(e, Forfeited) and e.seat == seat
                       for played, seat in rows for e in played.episode.events)  # fmt: skip
            habits.append([*row_head, str(move_counts.total()), *shares,
                           show(rows, share(bool, list_repeats), PERCENT, 0), str(forfeits),
                           unread(rows, "their_move"),
                           rate(rows, right, "will_keep"),
                           rate(rows, is_yes, "will_keep"),
                           rate(rows, right, "who_can_win_now"),
                           rate(rows, is_yes, "who_can_win_now"),
                           ])  # fmt: skip
            done.append([*row_head, show(rows, metric("reward"), (0.0, 1.0), 2),
                         show(rows, metric("step_regret"), (-1.0, 1.0), 2),
                         show(rows, metric("doing_win"), None, 2),
                         show(rows, metric("doing_steps"), None, 2),
                         show(rows, metric("collision_rate"), (0.0, 1.0), 2),
                         show(rows, metric("others_collide"), (0.0, 1.0), 2),
                         show(rows, metric("errors_survived"), (0.0, 1.0), 2),
                         show(rows, metric("announced_rate"), (0.0, 1.0), 2),
                         show(rows, metric("promise_kept"), (0.0, 1.0), 2)])  # fmt: skip
    yield "Step race, habits and answers:\n"
    yield from table(("player", "n", "moves", "1, %", "3, %", "5, %",
                      "repeats its own last move %", "forfeits", "their move, unread",
                      "will keep %", "says yes %", "who can win now %", "says yes %"),
                     habits)  # fmt: skip
    yield "Step race, play:\n"
    yield from table(("player", "n", "points", "regret", "doing, win", "doing, steps",
                      "collides", "others collide", "errors survived", "announces",
                      "keeps its word"), done)  # fmt: skip


CIPHER = {  # bundles by player and by how answers were asked for
    "qwen-0.5b, a labelled line": "cipher-0.5b",
    "qwen-0.5b, JSON schema": "cipher_schema-0.5b",
    "qwen-1.5b, JSON schema": "cipher_schema-1.5b",
}


def cipher(folder: Path) -> Iterator[str]:
    """Counts of the model's episodes from the logged moves, and the split of lost hints."""
    planned = {cell.name: len(cell.instances) * len(cell.lineups)
               for cell in registry.entries("studies")["cipher"].cells}  # fmt: skip
    for model, name in CIPHER.items():
        path = folder / f"{name}.sally.zip"
        if not path.is_file():
            continue
        by_cell: dict[str, list[tuple[Counter[str], str]]] = {
            cell: [] for cell in planned if cell.startswith("model")
        }
        with ZipFile(path) as bundle:
            for line in bundle.read("episodes.jsonl").splitlines():
                cell = line.rpartition(b'"cell":"')[2].partition(b'"')[0].decode()
                if cell in by_cell:
                    episode = msgspec.json.decode(line)
                    unit = episode["setup"]["instance"]["id"]
                    by_cell[cell].append((cipher_counts(episode), unit))
        lines = []
        for cell, rows in by_cell.items():
            total: Counter[str] = sum((counts for counts, _ in rows), Counter())
            row = [cell, f"{len(rows)} of {planned[cell]}", str(total["censored"]),
                    f"{total['forfeits']} of {total['forfeits'] + total['moves']}",
                    f"{total['unread']} of {total['probes']}"]  # fmt: skip
            for above, below in (("won", "games"), ("missed", "rounds"), ("caught", "rounds")):
                pairs = [(100.0 * c[above], float(c[below]), unit) for c, unit in rows if c[below]]
                row.append(cipher_ratio(pairs, 0, PERCENT))
            lines.append(row)
        yield f"Cipher, {model}:\n"
        yield from table(("cell", "episodes", "censored", "moves forfeited", "answers unread",
                          "games won by the team %", "rounds miscommunicated %",
                          "rounds intercepted %"), lines)  # fmt: skip
        if split := list(cipher_split(path)):
            yield f"Cipher, {model}, hints lost by cause (chance per round):\n"
            yield from table(("cell", "hints", "answers how it listens", "as told %", "true %",
                              "regret", "lost by modelling", "lost by play"), split)  # fmt: skip


def cipher_ratio(rows: Sequence[tuple[float, float, str]], places: int, bounds: Any) -> str:
    if not rows:
        return "-"
    tops, bottoms, units = zip(*rows, strict=True)
    estimate = ratio_by_rule(tops, bottoms, units, bounds)
    ends = estimate.interval
    interval_text = "" if ends is None else f" [{ends[0]:.{places}f}, {ends[1]:.{places}f}]"
    return f"{estimate.value:.{places}f}{interval_text}"


def cipher_split(path: Path) -> Iterator[list[str]]:
    """Regret of a model's hints by cause, where it was told of an interceptor.

    A cause is known where the model said how the interceptor listens; `as told` and `true` are
    shares of these answers.
    """
    rows: dict[str, list[tuple[list[Split], list[tuple[str, str, str]], str]]] = {}
    spec, seat = registry.game("cipher"), str(ENCODER)
    with open_store(path) as (place, _):
        episodes = store.load(place, quarantine=False).episodes.values()
    for episode in episodes:
        setup = episode.setup
        told_interceptor = setup.instance.params.get("told")
        if setup.lineup[seat].player != "language" or not told_interceptor:
            continue
        met_interceptor = setup.lineup["interceptor"].player.removeprefix("by_")
        listener_answers = [
            (str(e.value), str(told_interceptor), met_interceptor)
            for e in episode.events
            if isinstance(e, Reported) and e.probe == "listener" and e.value is not None
        ]
        played = Played(spec, episode, replay_episode(spec, episode))
        row = splits(played, ENCODER), listener_answers, setup.instance.id
        rows.setdefault(episode.cell, []).append(row)
    for cell, of in sorted(rows.items()):
        count = sum(len(parts) for parts, _, _ in of)
        answers_ = sum(len(heard) for _, heard, _ in of)
        line = [cell, str(count), str(answers_)]
        for index in (1, 2):
            line.append(cipher_ratio(
                [(100.0 * sum(answer[0] == answer[index] for answer in heard), float(len(heard)),
                  unit)
                 for _, heard, unit in of if heard], 0, PERCENT))  # fmt: skip
        for cause in ("regret", "modelling", "play"):
            line.append(cipher_ratio(
                [(sum(getattr(part, cause) for part in parts), float(len(parts)), unit)
                 for parts, _, unit in of if parts], 2, (-1.0, 1.0)))  # fmt: skip
        yield line


def cipher_counts(episode: dict[str, Any]) -> Counter[str]:
    """Return what happened in one match, over its four games."""
    lineup = episode["setup"]["lineup"]
    (mind,) = [seat for seat, player in lineup.items() if player["player"] == "language"]
    counts: Counter[str] = Counter()
    turns: dict[int, dict[str, Any]] = {}
    for event in episode["events"]:
        kind, is_mind = event["kind"], event.get("seat") == mind
        if kind == "moved":
            turns.setdefault(event["turn"], {})[event["seat"]] = event["action"]
            counts["moves"] += is_mind
        elif kind == "forfeited":
            counts["forfeits"] += is_mind
        elif kind == "reported" and is_mind:
            counts["probes"] += 1
            counts["unread"] += event.get("value") is None
    code: Any = None
    for _, moved in sorted(turns.items()):
        code = moved.get("nature", code)
        if "decoder" in moved or "interceptor" in moved:
            counts["rounds"] += 1
            counts["missed"] += moved.get("decoder") != code
            counts["caught"] += moved.get("interceptor") == code
    if payoffs := episode["events"][-1].get("payoffs"):  # four games, each +1 or -1
        counts["games"] += 4
        counts["won"] += round((payoffs["encoder"] + 4) / 2)
    else:
        counts["censored"] += 1
    return counts


def main() -> None:
    parts = {"bargaining": bargaining, "step_race": step_race, "cipher": cipher}
    for name in sys.argv[2:] or parts:
        for line in parts[name](Path(sys.argv[1])):
            print(line, flush=True)


if __name__ == "__main__":
    main()
