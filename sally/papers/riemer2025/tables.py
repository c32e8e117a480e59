"""Tables of riemer2025.

Values for the tabular learner come from simulations of many games at once, and values for language
models from stored episodes. The *interestingness* of a game, as the paper defines it, is computed
exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sally.core.rules.metric import Played
from sally.games.repeated_games.optimum import interestingness
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame
from sally.output.tables.reproduce import Conditions, Effort, Engine
from sally.papers.riemer2025.figures import figures
from sally.papers.riemer2025.layout import LAYOUTS
from sally.papers.riemer2025.study import MOVES, OPENING, ROUNDS, TOLD, fill_defaults
from sally.papers.riemer2025.tabular import cell, exact_cell, game_of, partners_of
from sally.stats.intervals import Estimate, exact

PARTNERS = ("single_action", "tit_for_tat")
SWITCHES = ("history", "payoffs")
ACTION = "action"  # of a single-action partner; a cell has them all


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """Return a table value that needs no language model; None for all other values."""
    name, kind = str(row.get("game")), str(row.get("partner"))
    if kind not in PARTNERS:
        return None
    if row.get("player") == "tabular":
        return cell(name, kind, effort).get(metric)
    if metric == "interestingness":
        game = game_of(name)
        return exact(interestingness(game, AGENT, partners_of(game, kind)))
    return None


def computes_exact(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """Return a table value of the learner by our own measures; None for rows of other players."""
    if row.get("player") != "tabular":
        return None
    return exact_cell(str(row["game"]), str(row["partner"]), effort).get(metric)


def cannot(row: Conditions, metric: str) -> str | None:
    """Return why a table value cannot be computed from episodes; None if it can."""
    if row.get("player") == "human":
        return "people's play; the store of a study with people is not read here"
    return None


# --- what an episode is ---------------------------------------------------------------------------


def facts(played: Played) -> Conditions | None:
    """Return an episode's conditions in the tables' terms; None if it is not the paper's game."""
    setup, game = played.episode.setup, played.replay.game
    name = setup.instance.game
    if name not in OPENING or not isinstance(game, RepeatedGame):
        return None
    standard = game_of(name)
    if (game.matrix, game.rounds, game.stop_chance) != (standard.matrix, ROUNDS, 0.0):
        return None
    agent, partner = setup.lineup[AGENT], setup.lineup[PARTNER]
    if partner.params.get("first") not in (None, OPENING[name]):
        return None
    conditions: dict[str, str | int] = {
        "game": name,
        "partner": partner.player,
        "player": agent.player,
        "names": " ".join(game.names_of(AGENT)),
    }
    if ACTION in partner.params:
        conditions[ACTION] = partner.params[ACTION]
    if agent.player != "language":
        return conditions
    strategy = str(agent.params.get("strategy", "qa"))
    if bool(setup.injections) != (strategy in TOLD):
        return None  # an injection that no table has, or a strategy without the injection it needs
    conditions |= {"model": str(agent.params.get("model")), "strategy": strategy}
    conditions |= dict.fromkeys(SWITCHES, "on") | dict(_switches(agent.params.get("with_") or {}))
    for param in ("pack", "settings"):
        if param in agent.params:
            conditions[param] = msgspec.json.encode(agent.params[param], order="sorted").decode()
    return conditions


def uneven(row: Conditions, episodes: Sequence[Conditions]) -> str | None:
    """Return a note if the partners that always play one action were not met equally often in a
    cell, else None."""
    if row.get("partner") != "single_action":
        return None
    actions = [facts.get(ACTION) for facts in episodes]
    counts = [actions.count(action) for action in range(MOVES[str(row["game"])])]
    if len(set(counts)) == 1:
        return None
    counts_text = ", ".join(f"action {action}: {n}" for action, n in enumerate(counts))
    return f"partners were not met equally often ({counts_text})"


def _switches(params: Mapping[str, Any]) -> Conditions:
    """Return a strategy's parameters under the tables' names."""
    switch_texts = {True: "on", False: "off"}
    return {
        name: switch_texts[value] if isinstance(value, bool) else value
        for name, value in params.items()
    }


def completes(row: Conditions) -> Conditions:
    """Return a row with the study's defaults filled in: a switch that a table does not mention is
    on."""
    row = fill_defaults(row)
    return {"history": "on", "payoffs": "on", **row} if row.get("player") == "language" else row


METRICS = {
    "functional_regret": "functional_regret_published",
    "tom_regret": "tom_regret_published",
    "tom_percent": "tom_percent",
}
EXACT = {"functional_regret": "functional_regret", "tom_regret": "tom_regret"}

ENGINE = Engine(
    computes,
    METRICS,
    AGENT,
    facts,
    exact=EXACT,
    computes_exact=computes_exact,
    completes=completes,
    uneven=uneven,
    pools=frozenset({ACTION}),
    of_setup=True,
    cannot=cannot,
    layouts=LAYOUTS,
    figures=figures(),
)
