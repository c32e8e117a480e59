"""tradecraft2026's directions that compare models: who is furthest off, who fears losses most."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sally.papers.tradecraft2026 import tables as tradecraft2026
from sally.papers.tradecraft2026.tables import tabulates


@pytest.fixture
def divergences(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Episodes that are nothing but a model, an arm and how far its beliefs were off."""
    monkeypatch.setattr(tradecraft2026, "mean_apart", lambda played, seat, measure: played.kl)

    def known(**by_model: list[float]) -> list[Any]:
        return [
            ({"model": model.replace("_", "-"), "arm": "v0+v1"}, SimpleNamespace(kl=kl))
            for model, values in by_model.items()
            for kl in values
        ]

    return known


def sign(metric: str, model: str, known: list[Any]) -> Any:
    estimate = tabulates({"model": model}, metric, known, None)
    return None if estimate is None else (estimate.value, estimate.low, estimate.high)


def test_lowest_is_below_the_next_lowest(divergences):
    known_divergences = divergences(
        o3=[0.5, 0.6, 0.5], gpt_4o=[0.9, 1.0, 1.1], gpt_5_medium=[0.1, 0.1, 0.2]
    )
    assert sign("kl_lowest", "gpt-5-medium", known_divergences) == (1, 1, 1)
    assert sign("kl_highest", "gpt-4o", known_divergences) == (1, 1, 1)
    assert sign("kl_lowest", "o3", known_divergences) == (-1, -1, -1)
    assert sign("kl_highest", "o3", known_divergences) == (-1, -1, -1)


def test_undecided_sign_has_an_interval_over_both_signs(divergences):
    known_divergences = divergences(o3=[0.1, 0.9], gpt_5_medium=[0.2, 0.7])
    assert sign("kl_lowest", "gpt-5-medium", known_divergences) == (1, -1, 1)


def test_single_model_is_neither_lowest_nor_highest(divergences):
    assert sign("kl_lowest", "o3", divergences(o3=[0.1, 0.2])) is None
    assert sign("kl_lowest", "gpt-4o", divergences(o3=[0.1, 0.2], other=[0.3, 0.3])) is None


def test_loss_aversion_grows_from_weakest_to_strongest_model(monkeypatch):
    weights = {"gpt-4o": -0.1, "o3": -0.2, "gpt-5-medium": -0.6, "unknown": 0.9}
    monkeypatch.setattr(
        tradecraft2026, "fit_arm",
        lambda plays, arm: SimpleNamespace(coefficients={"L0": weights[plays[0].model]}),
    )  # fmt: skip
    known_names: list[Any] = [
        ({"model": f"openai/{model}", "arm": "v0"}, SimpleNamespace(model=model))
        for model in weights
    ]
    row = {"model": "all", "arm": "v0"}
    estimate = tabulates(row, "coefficient_l0_over_capability", known_names, None)
    assert estimate is not None
    assert (estimate.value, estimate.n) == (-1, 3)  # a model that is not in the paper has no rank
    assert tabulates(row, "coefficient_l0_over_capability", known_names[:1], None) is None
