"""Model names in the published games of the step race (Mazur 2025), split into provider, model and
reasoning effort; the raw name is kept."""

from __future__ import annotations

import re

import msgspec

from sally.papers.name_tables import name_tables

# By beginning of the raw name. The published README and our protocol (section 3) name the models.
NAMES = name_tables(__package__)
PROVIDERS, MODELS = NAMES["providers"], NAMES["models"]
MEDIUM = ("o1-2024-12-17", "o3", "o3-mini", "o4-mini")  # medium, by the published README
# prefixes: another model rewrote their messages
REWRITTEN = ("gemini_20_flash_thinking_exp", "qwq")
_EFFORT = re.compile(r"-(minimal|low|medium|high|xhigh)$")
_BUDGET = re.compile(r"-(\d+)[kK]$")


class ModelName(msgspec.Struct, frozen=True):
    """A model's name in parts: provider, model and reasoning effort."""

    raw: str
    provider: str  # empty where it is not known
    model: str
    effort: str = ""  # empty: the provider's default, or not known

    @property
    def label(self) -> str:
        """The name that tables show, such as `openai/gpt-5 (medium)`."""
        effort_text = f" ({self.effort})" if self.effort else ""
        return f"{self.provider or 'unknown'}/{self.model}{effort_text}"


def model_name(raw: str) -> ModelName:
    """Return the parts of a raw name.

    >>> model_name("gpt-5-medium").label
    'openai/gpt-5 (medium)'
    >>> model_name("claude-opus-4-5-20251101-0K").effort
    'no thinking'
    """
    folded = raw.lower()
    prefixes = [start for start in PROVIDERS if folded.startswith(start)]
    provider = PROVIDERS[max(prefixes, key=len)] if prefixes else ""
    model, effort = MODELS.get(raw, raw), ""
    if raw in MODELS and raw.startswith("gemini-flash"):
        effort = "thinking 24K"
    if hit := _EFFORT.search(model):
        model, effort = model[: hit.start()], hit[1]
    elif raw in MEDIUM:
        effort = "medium"
    elif hit := _BUDGET.search(model):
        model = model[: hit.start()]
        effort = "no thinking" if hit[1] == "0" else f"thinking {hit[1]}K"
    elif model.endswith("-thinking"):
        model, effort = model.removesuffix("-thinking"), "thinking"
    return ModelName(raw, provider, model, effort)


def rewritten(raw: str) -> bool:
    """Return whether another model rewrote this model's messages before the others saw them."""
    return raw.startswith(REWRITTEN)
