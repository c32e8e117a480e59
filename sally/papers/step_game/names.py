"""Model names in the published games of the step race (Mazur 2025), split into provider, model and
reasoning effort; the raw name is kept."""

from __future__ import annotations

import re

import msgspec

# By beginning of the raw name. The published README and our protocol (section 3) name the models.
PROVIDERS = {
    "chatgpt": "openai",
    "gpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "claude": "anthropic",
    "haiku": "anthropic",
    "sonnet": "anthropic",
    "gemini": "google",
    "gemma": "google",
    "grok": "xai",
    "llama": "meta",
    "mistral": "mistral",
    "qwen": "alibaba",
    "qwq": "alibaba",
    "deepseek": "deepseek",
    "r1": "deepseek",
    "kimi": "moonshot",
    "glm": "zhipu",
    "minimax": "minimax",
}
MODELS = {
    "chatgpt-4o-latest": "chatgpt-4o-2025-02",
    "chatgpt-4o-03-27": "chatgpt-4o-2025-03",
    "gpt-4o_mini": "gpt-4o-mini",
    "o1-2024-12-17": "o1",
    "haiku35": "claude-3-5-haiku",
    "sonnet-20241022": "claude-3-5-sonnet",
    "gemini": "gemini-1.5-pro",
    "gemini_mini": "gemini-1.5-flash",
    "gemini_20_flash_exp": "gemini-2.0-flash-exp",
    "gemini_20_flash_thinking_exp": "gemini-2.0-flash-thinking-exp",
    "gemini_20_flash_thinking_exp_0121": "gemini-2.0-flash-thinking-exp-01-21",
    "gemini_20_pro_exp": "gemini-2.0-pro-exp",
    "gemini-flash-2-5-24k": "gemini-2.5-flash",
    "gemini-2_5-pro-preview-06-05": "gemini-2.5-pro-preview-06-05",
    "gemma": "gemma-2-27b",
    "grok2-12-12": "grok-2-1212",
    "llama": "llama-3.1-405b",
    "llama33_70b": "llama-3.3-70b",
    "llama4-maverick": "llama-4-maverick",
    "mistral": "mistral-large-2",
    "qwen": "qwen-2.5-72b",
    "qwen-max": "qwen-2.5-max",
    "qwq": "qwq-32b",
    "qwq_fireworks": "qwq-32b-fireworks",
    "deepseek": "deepseek-v3",
    "deepseek-v31": "deepseek-v3.1",
    "deepseek-v32-exp": "deepseek-v3.2-exp",
    "deepseek-reasoner": "deepseek-v3.1-reasoner",
    "r1": "deepseek-r1",
    "r1-0528": "deepseek-r1-0528",
    "glm-4-5": "glm-4.5",
    "glm-4-6": "glm-4.6",
}
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
