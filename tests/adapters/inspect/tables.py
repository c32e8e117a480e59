"""A tiny study with an open seat, and models that answer it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model

from sally import store
from sally.core.log.events import Episode
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.runner.local import manifest, orders
from sally.runner.models import with_model
from sally.runner.orders import Order

PICK = "Option: J"


def tiny(
    rounds: int = 2, repeats: int = 2, strategy: str = "qa", partner: Any = None, retries: int = 2
) -> Study:
    """A model in the agent's seat of a short prisoner's dilemma, probed each round."""
    return Study(
        "tiny",
        "a tiny study",
        (
            Cell(
                "ipd",
                (instance("ipd", rounds=rounds),),
                (
                    {
                        "agent": player_spec("language", strategy=strategy),
                        "partner": partner or player_spec("tit_for_tat"),
                    },
                ),
                arms={"agent": ("their_move",)},
                repeats=repeats,
            ),
        ),
        retries=retries,
    )


def wanted(study: Study, model: str, out: Path) -> list[Order]:
    """The episodes of the study for a model, and a store that awaits them."""
    filled = with_model(study, model)
    store.claim(out, manifest(filled))
    return orders(filled)


def stored(out: Path) -> list[Episode]:
    """All records; each must be there once."""
    contents = store.load(out)
    assert not contents.bad
    assert not contents.doubled
    return list(contents.episodes.values())


def mock(reply: str | Callable[[list[Any]], str], tokens: int = 10) -> Model:
    """Inspect's own mock, with usage on every output (else it fetches a tokenizer)."""

    def answer(input: list[Any], tools: Any, choice: Any, config: Any) -> ModelOutput:
        text = reply if isinstance(reply, str) else reply(input)
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage(input_tokens=tokens, output_tokens=1, total_tokens=tokens + 1)
        return output

    return get_model("mockllm/model", custom_outputs=answer)
