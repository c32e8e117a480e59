"""Importer of the HCSS 2025 tournaments: moves as scored, with unreadable replies marked.

An unreadable reply is not a move in Sally, but the tournament scored it as cooperation, and the
other side reacted to that. So the move stays in the match and is marked as `scored_there`. Measures
leave out that decision, but not the other side's reaction.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.registry.paper import Importer, ImportOption, ImportResult
from sally.games.repeated_games.recorded_play import Round, bot, fed
from sally.games.repeated_games.rounds import SCORED_THERE
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.papers.hcss2025.reader import MATCHES, POINTS, Agent, RecordedMatch, kind_of, read
from sally.parts.importers import Difference, ImportRun, recorded_player

NAMES = ("C", "D")
MATRIX = [[list(POINTS[a + b]) for b in NAMES] for a in NAMES]
LONGEST = 300  # a bound; the longest published match has 142 rounds
BOTS: dict[str, PlayerSpec] = {
    "TitForTat": bot("tit_for_tat"),
    "SuspiciousTitForTat": bot("suspicious_tit_for_tat"),
    "GrimTrigger": bot("grim_trigger"),
    "GenerousTitForTat": bot("generous_tit_for_tat", {"generosity": 0.1}),
    "WinStayLoseShift": bot("win_stay_lose_shift"),
    "Random": bot("random"),
    "Alternator": bot(
        "policy_table",
        {
            "table": {
                "start": "C",
                "states": {
                    "C": {"odds": [1, 0], "after": [["D", "D"], ["D", "D"]]},
                    "D": {"odds": [0, 1], "after": [["C", "C"], ["C", "C"]]},
                },
            }
        },
    ),
}
READ_WELL = ("Claude4-Sonnet", "GPT4.1mini", "Gemini20Flash")
"""Models whose published replies are almost all readable."""
NOT_PUBLISHED = "not in this record"


def spec_of(agent: Agent) -> PlayerSpec:
    """Return Sally's bot for a scripted player that has one, else a recorded player."""
    return BOTS.get(agent.setting) or recorded_player(agent.setting)


def as_episode(
    match: RecordedMatch, keep_replies: bool = False
) -> tuple[Episode, list[Difference], Counter[str]]:
    """Return one match as an episode; if only one side is a model, it gets the seat of the
    agent."""
    first_agent, two = match.agents
    turned = bool(two.model and not first_agent.model)
    agents = (two, first_agent) if turned else (first_agent, two)
    rounds = [(b, a) if turned else (a, b) for a, b in match.rounds]
    specs = {AGENT: spec_of(agents[0]), PARTNER: spec_of(agents[1])}
    params = {
        "matrix": MATRIX,
        "names": list(NAMES),
        "rounds": LONGEST,
        "stop_chance": match.stop,
    }
    name = f"hcss2025:{match.experiment}-{match.phase}:{match.name}"
    setup = Setup(
        Instance(name, "repeated_games", params), 0, {str(s): w for s, w in specs.items()}
    )
    joint_moves = [Round(NAMES.index(a.move), NAMES.index(b.move)) for a, b in rounds]
    watched = {seat: player for seat, player in specs.items() if player.player != "recorded"}
    scored: dict[str, dict[str, str]] = {}
    replies: dict[str, list[dict[str, Any]]] = {}
    counts: Counter[str] = Counter({"matches": 1, "rounds": len(rounds)})
    for number, seat in enumerate((AGENT, PARTNER)):
        model = agents[number].model
        for round_index, sides in enumerate(rounds):
            side = sides[number]
            if not model:
                continue
            counts["moves of models"] += 1
            kind = kind_of(side)
            if kind is None or side.reply is None:
                continue
            counts[f"{model}: {kind}, scored {side.move}"] += 1
            text = side.reply.encode()
            reply_record: dict[str, Any] = {"sha256": sha256(text).hexdigest(), "length": len(text)}
            replies.setdefault(seat, []).append(
                {**reply_record, "text": side.reply} if keep_replies else reply_record
            )
            if kind != "readable":  # turns count nature's too: the stop after each round
                scored.setdefault(seat, {})[str(2 * round_index)] = (
                    f"{kind}, scored there as {side.move}"
                )
    used: dict[str, Any] = {
        "source": msgspec.to_builtins(match.source),
        "agents": {AGENT: agents[0].setting, PARTNER: agents[1].setting},
        "replies": replies or NOT_PUBLISHED,
    }
    if scored:
        used[SCORED_THERE] = scored
    episode, agreements = fed(setup, joint_moves, watched, match.cell, used)
    differs = [
        Difference(name, "bot's move", n, "the recorded move", f"{watched[seat].player} never does")
        for seat, followed in agreements.items()
        for n in followed.outside
    ]
    return episode, differs, counts


def import_matches(path: Path, unread: bool = False, keep_replies: bool = False) -> ImportResult:
    """Import every match under a path.

    Args:
        path: A checkout, a folder or a file.
        unread: Whether to import match histories of models whose replies are mostly unreadable,
            too.
        keep_replies: Whether to store the text of replies, not only its hash and length.
    """
    matches_found = read(path)
    run = ImportRun(matches_found.oddities)
    for match in matches_found.matches:
        run.add(*as_episode(match, keep_replies))
    if matches_found.sides:
        sides_wanted = [s for s in matches_found.sides if unread or s.agents[0].model in READ_WELL]
        for match in sides_wanted:
            episode, differences, counted = as_episode(match)
            moves = counted["moves of models"]
            counts = {"matches without replies": 1, "moves of models without replies": moves}
            run.add(episode, differences, counts)
        n_left_out = len(matches_found.sides) - len(sides_wanted)
        run.counts["matches without replies that were left out"] = n_left_out
    run.counts["sides of histories that agree"] = matches_found.compared
    run.counts["matches in the full record, with replies"] = MATCHES
    return run.result()


IMPORTER = Importer(
    "hcss2025",
    "six language models among scripted players in the repeated dilemma (HCSS 2025)",
    import_matches,
    options=(
        ImportOption("unread", "Also import histories of models whose replies are unreadable."),
        ImportOption("keep_replies", "Store the replies, not only their hash and length."),
    ),
)
