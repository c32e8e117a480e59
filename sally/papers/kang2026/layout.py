"""The tables of kang2026 as the paper prints them."""

from __future__ import annotations

from sally.output.tables.layout import Column, Conditions, Layout, Stub
from sally.papers.name_tables import name_tables

OPEN = ("qwen", "gemma")
NAMES = name_tables(__package__)
FAMILIES, MODELS = NAMES["families"], NAMES["models"]
STRATEGIES, TASKS = NAMES["strategies"], NAMES["tasks"]
BASELINES, PROPOSED = "Baselines", "Proposed"  # task success; the paper calls the latter "ours"


def model(row: Conditions) -> str:
    """Return a model's name as the paper writes it."""
    return MODELS.get(str(row["model"]), str(row["model"]))


def family(row: Conditions) -> str:
    """Return the family to which a model's name belongs."""
    name = str(row["model"])
    return next(
        (display_name for part, display_name in FAMILIES.items() if name.startswith(part)), ""
    )


def _type(row: Conditions) -> str:
    name = str(row["model"])
    if name in MODELS or name.startswith(OPEN):
        return "Open" if name.startswith(OPEN) else "Closed"
    return ""


def _strategy(row: Conditions) -> str:
    display_name = STRATEGIES[str(row["strategy"])]
    return f"Zero-shot-{display_name}" if display_name == "SC" else display_name


def _by_strategy(names: tuple[str, ...], group: str) -> tuple[Column, ...]:
    return tuple(
        Column(
            STRATEGIES[name],
            "task_success",
            {"strategy": name},
            group,
            beside="gain_over_zero_shot",
        )
        for name in names
    )


def _by_level(levels: tuple[str, ...]) -> Layout:
    columns = tuple(
        Column(level.capitalize(), "task_success", {"level": level}) for level in levels
    )
    stubs = (Stub("Family", family), Stub("Model", model), Stub("Strategy", _strategy))
    return Layout(("model", "strategy"), stubs, columns)


MAIN = Layout(
    ("model",),
    (Stub("Type", _type), Stub("Model", model)),
    (
        Column("Acc ToM", "tom_accuracy"),
        *_by_strategy(("zero_shot", "sc", "cot"), BASELINES),
        *_by_strategy(("tom_guide", "tom_cot"), PROPOSED),
    ),
)
LAYOUTS = {
    "1": MAIN,
    "2": MAIN,
    "3": Layout(
        ("game", "model"),
        (Stub("Task", lambda row: TASKS[str(row["game"])]), Stub("Model", model)),
        (
            *_by_strategy(("zero_shot", "cot"), BASELINES),
            *_by_strategy(("tom_cot", "tom_guide"), PROPOSED),
        ),
    ),
    "9": _by_level(("total", "L0", "L1", "L2", "L3", "L4")),
    "10": _by_level(("total", "L1", "L2", "L3")),
}
