"""Names of models and of their settings in tables."""

from __future__ import annotations

from typing import Any

WAYS = {"temperature": "T", "top_p": "p", "top_k": "k", "reasoning_effort": "effort"}  # in labels


def short_model_name(model: str) -> str:
    """Return the name of a model in tables: its full name, so that no two models share one.

    Only the prefix `hf:` is left out, for the transformers models in the catalogue. A name depends
    on the model alone, not on the other models in a table or process.

    >>> called("openai/gpt-4o"), called("hf:qwen-0.5b"), called("hf:lab/last")
    ('openai/gpt-4o', 'qwen-0.5b', 'hf:lab/last')
    """
    bare_name = model.removeprefix("hf:")
    return model if "/" in bare_name else bare_name


def name_params(params: dict[str, Any]) -> list[str]:
    """Return the parameters that are not None, as `name=value`, with short names for common
    settings, such as `T` for the temperature."""
    return [
        f"{WAYS.get(key, key)}={_value_text(value)}"
        for key, value in params.items()
        if value is not None
    ]


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
