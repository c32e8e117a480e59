"""Guided decoding: the texts that a schema allows, and what may follow a beginning of one."""

from __future__ import annotations

import json
import random

import pytest

from sally.core.prompt.answer_schema import of_answer, of_move
from sally.core.rules.chance import Stream
from sally.core.rules.menu import example, is_finite
from sally.models.hf.guide import Guide, allowed_by, by_first_character, pattern_of

pytest.importorskip("regex", reason="the package comes with transformers")

SCHEMA = of_answer("Option", {"type": "string", "enum": ["J", "F", "Ja"]}, ["Thoughts"])
PIECES = ["<end>", *'{}":, ', "J", "F", "a", "option", "thoughts", "so", "\n", 'J"}', "x"]
END = frozenset({0})
TOKENS = by_first_character(["", *PIECES[1:]])


def draw_sample(guide: Guide, seed: int) -> str:
    """A text of tokens drawn at random, each drawn again where it may not stand."""
    chance, numbers = random.Random(seed), list[int]()
    check = allowed_by(guide, lambda tokens: "".join(PIECES[t] for t in tokens if t), END)
    while len(numbers) < 400:
        token = chance.randrange(len(PIECES))
        instead = check([*numbers, token])
        numbers.append(token if instead is None else chance.choice(instead))
        if numbers[-1] in END:
            break
    return "".join(PIECES[token] for token in numbers[:-1])


def test_every_sampled_text_satisfies_the_schema() -> None:
    guide, found = Guide(SCHEMA, TOKENS), set()
    for seed in range(60):
        text = draw_sample(guide, seed)
        if not guide.is_whole(text):
            continue  # thoughts without an end
        found.add(json.loads(text)["option"])
    assert found == {"J", "F", "Ja"}


def test_only_the_end_token_may_follow_a_complete_answer() -> None:
    guide = Guide(SCHEMA, TOKENS)
    check = allowed_by(guide, lambda tokens: '{"thoughts": "", "option": "J"}', END)
    assert check([3, 4]) == (0,) and check([3, 0]) is None


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer", "minimum": -2, "maximum": 12}, ["-2", "12"], ["-3", "13", "02", "1."]),
        ({"type": "integer", "minimum": 0, "maximum": 99_999}, ["0", "99999"], ["-1", "100000"]),
        ({"type": "number", "minimum": 0, "maximum": 1}, ["0", "0.25"], ["-1", "12", ".5"]),
        ({"const": "offer"}, ['"offer"'], ["offer"]),
        ({"type": "string", "minLength": 1, "maxLength": 3}, ['"a b"', '"\\""'], ['""', '"abcd"']),
        ({"type": "string", "pattern": "^[0-9]{4}$"}, ['"0123"'], ['"123"']),
    ],
)
def test_patterns(schema: dict[str, object], good: list[str], bad: list[str]) -> None:
    regex = pytest.importorskip("regex")

    for text in good:
        assert regex.fullmatch(pattern_of(schema), text), text
    for text in bad:
        assert not regex.fullmatch(pattern_of(schema), text), text


def test_every_form_of_every_game_fits_its_pattern() -> None:
    import msgspec

    from tests.table import asked_in_turn, every, match_of, table

    for name in every():
        for turn, _ in list(asked_in_turn(match_of(table(name))))[:3]:
            if turn.question is not None or is_finite(turn.options):
                continue
            guide = Guide(of_answer("Option", of_move(turn.context.words, turn.options)), {})
            for seed in range(5):
                action = msgspec.to_builtins(example(turn.options, Stream(seed)))
                assert guide.is_whole(json.dumps({"option": action}, ensure_ascii=False)), action


def test_allowed_tokens_equal_exhaustive_trial() -> None:
    closed = of_answer("Option", {"type": "string", "enum": ["é", "J 1"]})
    pieces = ["", *PIECES[1:], "é", "1", '{"', 'option":', " 1", '"é']
    for schema in (SCHEMA, closed):  # with free text, and without
        guide = Guide(schema, by_first_character(pieces))
        for text in ("", "{", '{"option": "', '{"option": "J', '{"thoughts": "so'):
            item = [n for n, piece in enumerate(pieces) if piece and guide.may_begin(text + piece)]
            assert guide.following(text) == tuple(item)
