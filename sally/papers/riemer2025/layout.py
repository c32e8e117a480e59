"""The tables of riemer2025 as the paper prints them."""

from __future__ import annotations

from sally.output.tables.layout import Column, Conditions, Layout, Stub
from sally.papers.name_tables import name_tables

NAMES = name_tables(__package__)
MODELS, PROMPTS = NAMES["models"], NAMES["prompts"]
GAMES, PARTNERS = NAMES["games"], NAMES["partners"]


def _model(row: Conditions) -> str:
    if row.get("player") != "language":
        return "Tabular" if row.get("player") == "tabular" else str(row.get("player", ""))
    return MODELS.get(str(row["model"]), str(row["model"]))


def _whose(row: Conditions) -> str:
    return _model(row) if row.get("player") == "language" else ""


def _prompting(row: Conditions) -> str:
    if row.get("player") == "tabular":
        return "Tabular"
    prompt_name = PROMPTS[str(row["strategy"])]
    for switch in ("history", "payoffs"):
        if row.get(switch) == "off":
            prompt_name += f" - {switch.capitalize()}"
    return prompt_name


def _prompting_with_memory(row: Conditions) -> str:
    if row.get("player") == "tabular":
        return "N/A"
    memory = f" {row['memory']}" if row.get("strategy") == "reflexion" else ""
    return PROMPTS[str(row["strategy"])] + memory


MODEL = Stub("Model", _model)
WHOSE = Stub("Model", _whose, printed=False)  # the paper names its one model in the caption
PROMPTING = Stub("Prompting", _prompting)
GAME = Stub("Game", lambda row: GAMES[str(row["game"])])
PARTNER = Stub("Partner", lambda row: PARTNERS[str(row["partner"])])
MEASURES = (
    Column("ΔFunctional/T", "functional_regret"),
    Column("ΔToM/T", "tom_regret"),
    Column("ToM %", "tom_percent", places=1),
)
BY_GAME = tuple(Column(title, "functional_regret", {"game": game}) for game, title in GAMES.items())
WHO = ("player", "model")

LAYOUTS = {
    "1": Layout(WHO, (Stub("LLM Model", _model),), MEASURES),
    "2": Layout((*WHO, "strategy", "game"), (WHOSE, PROMPTING, GAME), MEASURES),
    "3": Layout((*WHO, "strategy", "history", "payoffs"), (WHOSE, PROMPTING), BY_GAME),
    "4": Layout((*WHO, "game", "partner"), (MODEL, GAME, PARTNER), MEASURES),
    "8": Layout((*WHO, "strategy", "game"), (MODEL, PROMPTING, GAME), MEASURES),
    "9": Layout((*WHO, "strategy", "game"), (MODEL, PROMPTING, GAME), MEASURES),
    "10": Layout(
        (*WHO, "strategy", "memory"),
        (MODEL, Stub("Prompting", _prompting_with_memory)),
        BY_GAME,
    ),
    "tabular": Layout(("player", "game", "partner"), (MODEL, GAME, PARTNER), MEASURES),
}
