"""Texts and tokens of a model from a folder: chat template, tokeniser, tool calls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

from sally.core.prompt.model import Context, Message, ModelFailure, ToolCall, ToolSpec
from sally.models import in_process, wire
from sally.models.in_process import Tokens, stem_of

# Names of end-of-turn tokens, besides the one in the model's settings.
TURN_ENDS: Final = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<end_of_turn>", "<|end|>")
TOOL_CALL: Final = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)


class Texts:
    """A tokeniser with its chat template; safe to use from several threads."""

    def __init__(self, tokenizer: Any, ends: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        added = {str(t): i for i, t in tokenizer.added_tokens_decoder.items()}
        self._control = sorted(
            str(token) for token in tokenizer.added_tokens_decoder.values() if token.special
        )
        # Tokens never span a cut at one of these; elsewhere that is not certain.
        self._cut = re.compile("|".join(map(re.escape, self._control))) if self._control else None
        end_tokens = {tokenizer.eos_token_id, *ends} | {added[e] for e in TURN_ENDS if e in added}
        self.ends = frozenset(int(end) for end in end_tokens if end is not None)
        self._splits = self._splits_cleanly()

    def render_chat(
        self, turns: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()
    ) -> str:
        """Return the chat as the model's template writes it, with the assistant's turn open."""
        if not self._tokenizer.chat_template:
            raise ModelFailure(
                "unsupported", "The model has no chat template; use a strategy that scores texts."
            )
        try:
            return str(
                self._tokenizer.apply_chat_template(
                    [_parse_tool_calls(turn) for turn in turns],
                    tools=list(tools) or None,
                    tokenize=False,
                    add_generation_prompt=True,
                )
            )
        except Exception as error:  # a template may raise any exception
            raise ModelFailure(
                "bad_request", f"The chat template rejects the messages: {error}."
            ) from error

    def chat(self, messages: Sequence[Message], tools: Sequence[ToolSpec], name: str) -> Tokens:
        """Return the tokens of a chat with the assistant's turn open; `name` is used in errors."""
        turns, offered = [wire.turn(m) for m in messages], [wire.tool(t) for t in tools]
        self.guard([turn["content"] for turn in turns])
        text = self.render_chat(turns, offered)
        if offered and "<tool_call>" not in text:
            raise ModelFailure(
                "unsupported",
                f"The chat template of {name} does not support tool calls in <tool_call>; "
                "serve the model with vllm, or use a strategy without tools.",
            )
        return self.tokens(text, chat=True)

    def stem(
        self, context: Context, candidates: Sequence[str]
    ) -> tuple[Tokens, list[tuple[int, ...]]]:
        """Return the tokens that precede every candidate, and the tokens of each candidate."""
        if isinstance(context, str):
            self.guard([context, *candidates])
            return stem_of(*self.joint(str(context), candidates, chat=False))
        turns, begun = in_process.open_turn(context)
        self.guard([*(turn["content"] for turn in turns), begun, *candidates])
        text = self.render_chat(turns) + begun
        return stem_of(*self.joint(text, candidates, chat=True))

    def tokens(self, text: str, chat: bool) -> Tokens:
        """Return the canonical tokens of a text."""
        return self._all([text], chat)[0]

    def joint(self, text: str, endings: Sequence[str], chat: bool) -> tuple[Tokens, list[Tokens]]:
        """Return the tokens of a text alone and of the text joined with each ending."""
        head, tail = "", text
        if chat and self._splits and self._cut is not None:
            for cut in self._cut.finditer(text):
                head, tail = text[: cut.end()], text[cut.end() :]
        token_lists = self._all([tail, *(tail + ending for ending in endings)], chat or bool(head))
        if head:
            head_tokens = self._all([head], chat)[0]
            token_lists = [
                np.concatenate([head_tokens, tail_tokens]) for tail_tokens in token_lists
            ]
        return token_lists[0], token_lists[1:]

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, without chat control tokens."""
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def pieces(self) -> list[str]:
        """Return the text of every token when it follows another token; "" if it is not text."""
        (anchor,) = self._tokenizer.encode(":", add_special_tokens=False)[-1:]
        alone = self.text([anchor])
        token_texts = (self.text([anchor, token]) for token in range(len(self._tokenizer)))
        return ["" if "\ufffd" in text else text.removeprefix(alone) for text in token_texts]

    def guard(self, texts: Sequence[str]) -> None:
        """Raise ModelFailure for texts that would end a turn or open another."""
        in_process.check_encodable(texts)
        for text in texts:
            if self._cut is not None and (control := self._cut.search(text)):
                raise in_process.controls(control.group())

    def _all(self, texts: Sequence[str], chat: bool) -> list[Tokens]:
        # A rendered chat contains its own start token; a plain text gets the model's.
        token_ids = self._tokenizer(list(texts), add_special_tokens=not chat)["input_ids"]
        return [np.array(ids, np.int64) for ids in token_ids]

    def _splits_cleanly(self) -> bool:
        """Return whether a text that is tokenised in two parts, split after a control sequence, has
        the same tokens as if it were tokenised whole."""
        if not self._control:
            return False
        for mark in self._control:
            for first_part, second_part in (
                (f"a b\n{mark}", "\nuser\nfour"),
                (f"x{mark}", " Rock. "),
                (mark, "J"),
            ):
                parts = self._all([first_part, second_part, first_part + second_part], chat=True)
                if not np.array_equal(np.concatenate(parts[:2]), parts[2]):
                    return False
        return True


def _parse_tool_calls(turn: Mapping[str, Any]) -> dict[str, Any]:
    """Return a turn with its tool-call arguments as objects, which templates print as JSON."""
    if "tool_calls" not in turn:
        return dict(turn)
    calls = []
    for call in turn["tool_calls"]:
        function = dict(call["function"])
        with suppress(ValueError):  # otherwise the model sees its own text unchanged
            function["arguments"] = json.loads(function["arguments"])
        calls.append({**call, "function": function})
    return {**turn, "tool_calls": calls}


def thought(text: str) -> tuple[str, str | None]:
    """Split a text into the answer and the reasoning before it."""
    reasoning, mark, answer = text.partition("</think>")
    if not mark:
        return text, None
    return answer.lstrip("\n"), reasoning.replace("<think>", "", 1).strip()


def calls_in(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Split a text into plain text and tool calls; an unreadable call stays text."""
    calls: list[ToolCall] = []

    def take(match_of_call: re.Match[str]) -> str:
        try:
            call = json.loads(match_of_call[1])
            name, arguments = str(call["name"]), json.dumps(call.get("arguments", {}))
        except (ValueError, KeyError, TypeError):
            return match_of_call[0]
        calls.append(ToolCall(f"call_{len(calls) + 1}", name, arguments))
        return ""

    plain = TOOL_CALL.sub(take, text)
    return (plain.strip() if calls else text), tuple(calls)
