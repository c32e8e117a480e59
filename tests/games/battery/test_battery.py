"""The game: what a reader sees, how replies are read, orders, forfeits, and the reminded arm."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import sally
from sally.core.display.board import board_of
from sally.core.errors import BadInput, Unreadable
from sally.core.log.events import Told
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.words import read_tables
from sally.frames.replays import replay_for_measures
from sally.games.battery import applied, belief_action, casts, nested, watched
from sally.games.battery.casts import UNITS
from sally.games.battery.items import (
    Belief,
    Item,
    decode_items,
    encode_items,
    hash_of,
    kept_at,
    portable,
)
from sally.games.battery.rules import READER, Battery, generate_item
from sally.games.battery.scores import majority, strict_groups, strict_share
from sally.games.battery.words import TEXTS as WORDS
from sally.games.battery.words import BatteryWords, read_option

TEXTS = ("the jar", "the tin", "the big basket")
SPEC = registry.game("battery")


def scores(*metrics: str, player: str = "believer", **params: object) -> list[float | None]:
    episode = replay_for_measures(sally.play("battery", {"reader": player}, **params))
    known_metrics = registry.metrics("battery")
    return [known_metrics[metric].measure(episode, READER) for metric in metrics]


# --- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("Option: B", 1),
        ("B", 1),
        ("Option: the tin", 1),
        ("The tin.", 1),
        ("Option: B. the tin", 1),
        ("I think it is in the basket.\nOption: C", 2),
        ("**Option: A**", 0),
    ],
)
def test_option_is_read_by_letter_or_text(reply: str, place: int) -> None:
    assert read_option(reply, TEXTS, "Option") == place


@pytest.mark.parametrize(
    "reply", ["", "no idea", "A or B", "Option: D", "Option: A. the tin", "not A", "Option:"]
)
def test_unreadable_reply_is_refused_not_read_as_first_option(reply: str) -> None:
    with pytest.raises(Unreadable, match="one letter, A, B or C"):
        read_option(reply, TEXTS, "Option")


def test_yes_and_no_are_read_by_text() -> None:
    assert [read_option(f"Option: {t}", ("yes", "no"), "Option") for t in ("yes", "no")] == [0, 1]


# --- play -----------------------------------------------------------------------------------------


def test_believer_is_right_in_every_generator() -> None:
    for generator in ("nested", "belief_action", "applied"):
        assert scores("literal", "literal_strict", generator=generator, length=8) == [100, 100]


def test_view_hides_the_key_and_option_orders_are_reproducible() -> None:
    game = Battery(generator="belief_action", orders=3)
    view = game.observe(game.start(), READER)
    assert view.asked is not None and "answer" not in view.asked.__struct_fields__
    assert len({turn.shown for turn in game.schedule}) > 1
    assert game.schedule == Battery(generator="belief_action", orders=3).schedule


def test_flips_and_majority_over_orders() -> None:
    assert scores("order_flips", orders=3) == [0]
    assert scores("order_flips") == [None]
    actual_scores = scores("literal", "order_flips", player="random", orders=9)
    assert actual_scores[1] == 100 and actual_scores[0] in (0, 100)
    assert majority([None, 2, 1, 1]) == 1 and majority([None]) is None


def test_forfeit_counts_as_missing_answer() -> None:
    game = Battery(generator="applied", number=1)
    next_states = game.forfeit(game.start(), {}, (READER,))
    assert next_states.answers == (None,) and game.payoffs(next_states) == {READER: 0.0}
    assert not game.to_move(next_states)


def test_practice_comes_first_with_feedback_and_does_not_count() -> None:
    game = Battery(generator="applied", practice=True, length=2)
    context = SeatContext(SPEC, game, READER, 1)
    wrong = game.options(game.start(), READER)
    key = game.schedule[0].item.answer
    state = game.step(game.start(), {READER: next(m for m in wrong if m - 4 != key)})
    (line,) = context.words.lines(game.observe(state, READER), 0, "agent_first")
    assert "is not right; the right answer is:" in line
    assert game.payoffs(state) == {READER: 0.0} and len(game.schedule) == 3
    assert "Practice." in context.words.now(game.observe(game.start(), READER))


def test_people_see_one_item_per_screen() -> None:
    game = Battery(generator="nested", length=2)
    words = SPEC.words(game, {**SPEC.texts, **SPEC.people.texts})
    view = game.observe(game.start(), READER)
    board = board_of(SeatContext(SPEC, game, READER, 1), view)
    assert board is not None
    assert words.now(view) == "Question 1 of 2."
    story = game.items[0].story.split("\n")
    assert [note.text for note in board.parts[0].notes] == story  # type: ignore[attr-defined]


def test_reminder_shows_the_own_answer() -> None:
    game = Battery()
    item = game.items[0]
    assert item.belief is not None
    injected = Told(0, "reader", "belief", 1, about=item.id, source="own")
    said = SPEC.words(game, SPEC.texts).told(injected)
    assert item.belief.options[1] in said and item.belief.question in said


def test_best_reply_follows_from_the_reported_belief() -> None:
    game = Battery(generator="applied", number=1)
    view, item = game.observe(game.start(), READER), game.items[0]
    assert item.belief is not None and SPEC.measured.best_replies is not None
    assert SPEC.measured.best_replies(game, view, {item.id: item.belief.answer}) == (item.answer,)
    assert SPEC.measured.best_replies(game, view, {item.id: 1 - item.belief.answer}) == (
        1 - item.answer,
    )


# --- files ----------------------------------------------------------------------------------------

ONE = Item("x-1", "A lamp is on.", "Is it on?", ("yes", "no"), 0, pair="x")
TWO = Item("x-2", "A lamp is on.", "Is it off?", ("yes", "no"), 1, pair="x", flags=("broken",))


def test_items_of_a_file_are_played_by_id_or_story(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SALLY_CACHE", str(tmp_path / "cache"))
    data = encode_items([ONE, TWO])
    file = tmp_path / "items.jsonl"
    file.write_bytes(data)
    assert Battery(generator="file", file=str(file), item="x-2").items == (TWO,)
    params = {"generator": "file", "file": str(file), "item": "x"}
    assert Battery(**params).items == (ONE,)  # type: ignore[arg-type]
    kept = portable(params)
    assert kept["file"] == "items.jsonl" and kept["hash"] == hash_of(data)
    file.unlink()
    assert kept_at(hash_of(data)).exists()
    assert Battery(**kept).items == (ONE,)  # found by hash
    with pytest.raises(BadInput, match="no item or story named 'y'"):
        Battery(generator="file", hash=hash_of(data), item="y").items  # noqa: B018


def test_flagged_items_have_no_score(tmp_path: Path) -> None:
    file = tmp_path / "items.jsonl"
    file.write_bytes(encode_items([ONE, TWO]))
    assert scores("literal", generator="file", file=str(file), item="x-2") == [None]
    assert scores("literal", generator="file", file=str(file), item="x-1") == [100]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{", "line 1"),
        (b'{"id":"a"}', "line 1"),
        (encode_items([Item("a", "s", "q", ("x", "y"), 2)]), "answer must be from 0 to 1, not 2"),
        (b"", "no items"),
        (
            encode_items(
                [Item("a", "s", "q", ("x", "y"), 0, belief=Belief("q", ("x", "y"), 0, (0,)))]
            ),
            "one option for each belief option",
        ),
    ],
)
def test_bad_line_is_named(line: bytes, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        decode_items(line, "items.jsonl")


@pytest.mark.parametrize(
    "params", [{"orders": 0}, {"order": 5}, {"length": 0}, {"item": "x"}, {"generator": "file"}]
)
def test_impossible_parameters_are_refused(params: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        SPEC.build({"generator": "nested", **params})


# --- strict scores --------------------------------------------------------------------------------


def test_story_counts_only_with_its_true_control() -> None:
    cells = ("true_belief", "false_belief", "true_control", "false_control")
    items = [
        Item(f"b-{cell}", "s", "q", ("x", "y"), 0, "forward_belief", 1, cell, "b") for cell in cells
    ]
    groups = strict_groups(items)
    assert list(groups.values()) == [[f"b-{cell}" for cell in cells[:3]]]
    assert strict_share(groups, {"b-true_belief", "b-false_belief"}) == 0
    assert strict_share(groups, {f"b-{cell}" for cell in cells[:3]}) == 100


def test_order_counts_only_with_all_lower_ones() -> None:
    items = [Item(f"h-{k}", "s", "q", ("x", "y"), 0, "hitom", k, pair="h") for k in range(3)]
    assert strict_share(strict_groups(items), {"h-0", "h-2"}) == pytest.approx(100 / 3)


# --- the twin -------------------------------------------------------------------------------------


@pytest.mark.parametrize("generator", ["nested", "belief_action", "applied", "watched"])
def test_twin_describes_units_without_mental_terms_and_keeps_every_key(generator: str) -> None:
    minds = re.compile(
        r"\b(believes?|thinks?|told|knows?|knew|saw|sees|nobody|every(one|body)|lie)\b"
    )
    for number in range(72):
        own_item, twin = (
            generate_item(generator, 7, number, None, cast) for cast in ("people", "units")
        )
        assert (own_item.id, own_item.answer, own_item.by_depth) == (
            twin.id,
            twin.answer,
            twin.by_depth,
        )
        page = "\n".join((twin.story, twin.question, *twin.options))
        assert minds.search(page) is None, page
        assert own_item.people[0] in own_item.story and f"Unit {own_item.people[0]}" in twin.story


def test_every_sentence_of_the_twin_replaces_one_of_the_generators() -> None:
    """A reworded template would otherwise keep its words about minds in the twin."""
    sources = " ".join(
        inspect.getsource(item) for item in (nested, belief_action, applied, watched)
    )
    written = re.sub(r'"\s*\n\s*"', "", sources)
    stories = read_tables(casts.__package__, "stories.toml")
    written += str({name: table for name, table in stories.items() if name != "units"})
    for template in UNITS:
        assert template in written, template


def test_imported_items_have_no_twin() -> None:
    with pytest.raises(BadInput, match="not written for another cast"):
        Battery(generator="file", file="x.jsonl", item="a").told_of("units")


def test_order_pack_lists_options_in_reverse() -> None:
    game = Battery(generator="nested", order=2)
    options = game.options(game.start(), READER)
    view = game.observe(game.start(), READER)
    plain, turned = (
        BatteryWords(game, {**WORDS, **texts}) for texts in ({}, {"order": "reversed"})
    )
    for letter in "ABC":
        chosen = turned.read(f"Option: {letter}", view, options)
        assert turned.menu(options)[options.index(chosen)] == letter
    assert plain.read("Option: A", view, options) == turned.read("Option: C", view, options)
