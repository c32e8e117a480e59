"""Figures stated in the text of moore2025, as tables with persuaders as rows and conditions as
columns."""

from __future__ import annotations

from sally.output.tables.layout import Column, Conditions, Layout, Stub

PERSUADERS = {
    "human": "people",
    "random": "random disclosures",
    "all": "everybody",
    "models": "all models",
}
SETS = {"paper": "the text", "released": "released games"}


def _persuader(row: Conditions) -> str:
    name = str(row.get("persuader", ""))
    return PERSUADERS.get(name, name)


def _said_by(row: Conditions) -> str:
    name = str(row.get("data", ""))
    return SETS.get(name, name)


def _baseline(row: Conditions) -> str:
    if "memory" in row:
        return f"{row['disclosures']} at random, {row['memory']} memory"
    return str(row.get("test") or row.get("plan", ""))


def _play(row: Conditions) -> str:
    parts = [_persuader(row), str(row.get("condition", ""))]
    if "turn" in row:
        parts.append(f"message {row['turn']}")
    if "inferential" in row:
        parts.append(f"rankings {row['inferential']}")
    return ", ".join(part for part in parts if part)


WHO, SOURCE = Stub("persuader", _persuader), Stub("by", _said_by, printed=False)
CONDITIONS = ("hidden", "revealed")
VARIANTS = ("default", "non_mental", "add_hint", "perfect_game", "discrete_game")

LAYOUTS = {
    "success": Layout(
        ("persuader", "data"),
        (WHO, SOURCE),
        (
            *(Column(c, "success", {"condition": c}, "success") for c in CONDITIONS),
            *(Column(c, "games", {"condition": c}, "games", places=0) for c in CONDITIONS),
        ),
    ),
    "effects": Layout(
        ("persuader", "contrast"),
        (WHO, Stub("contrast", lambda row: str(row.get("contrast", "")))),
        (Column("difference", "success_difference"),),
    ),
    "hypotheses": Layout(
        ("hypothesis", "intercepts"),
        (
            Stub("", lambda row: str(row.get("hypothesis", ""))),
            Stub("intercepts", lambda row: str(row.get("intercepts", "story"))),
        ),
        (
            Column("text", "z", {"data": "paper"}, "z", places=2),
            Column("released", "z", {"data": "released"}, "z", places=2),
            Column("text", "p", {"data": "paper"}, "p"),
            Column("text, below", "p_below", {"data": "paper"}, "p"),
            Column("released", "p", {"data": "released"}, "p"),
            Column("confirmed", "confirmed", places=0),
        ),
    ),
    "variants": Layout(
        ("persuader", "data"),
        (WHO, SOURCE),
        (
            *(Column(v.replace("_", " "), "success", {"variant": v}) for v in VARIANTS),
            Column("games a variant", "games_per_variant", places=0),
        ),
    ),
    "baseline": Layout(
        ("memory", "disclosures", "test", "plan"),
        (Stub("how", _baseline),),
        (Column("wins", "win_probability", places=4),),
    ),
    "play": Layout(
        ("persuader", "condition", "turn", "inferential", "data"), (Stub("of", _play), SOURCE), ()
    ),
}
