"""Every wording says what the game says: the same facts, the same moves, about other things."""

from __future__ import annotations

import re

import pytest

from sally.core import packs, shelf
from sally.core.desk import Desk
from sally.core.errors import BadInput
from sally.core.game import NATURE
from sally.core.log import Instance, Setup, Sitter
from sally.core.match import Match
from sally.core.menu import is_finite
from sally.core.probe import Report
from sally.core.skins import inflected, packs_from, read_skins
from sally.core.words import checked, slots
from sally.runner.seating import players_of

GAMES = sorted(game for game, home in shelf.packages().items() if home.startswith("sally."))
MINDS = re.compile(
    r"\b(players?|believes?|thinks|persons?|people|somebody|teammate|opponent|partner|users?|"
    r"guesser|psychic|eavesdropper|rival|wants|likes|dislikes|agents)\b",
    re.I,
)


def grammar(game):
    home = shelf.packages()[game]
    (file,) = [f for f in packs._files(home) if f.name == packs.SKINS]
    return read_skins(file.read_text("utf-8"), game)


def moments(game, most=40):
    """Asks of a few random games, each with the desk of its seat."""
    spec = shelf.game(game)
    build = spec.build({})
    lineup = {str(s): Sitter("random") for s in build.seats}
    helpers = {str(h): Sitter(spec.occupants[h]) for h in build.helpers if h != NATURE}
    arms = {}
    for probe in spec.probes:
        for seat in probe.seats:
            if seat in build.seats:
                arms.setdefault(str(seat), []).append(probe.name)
    setup = Setup(
        Instance(game, game), 3, {**lineup, **helpers}, spec.version,
        {seat: tuple(names) for seat, names in arms.items()},
    )  # fmt: skip
    match, found = Match(spec, setup), []
    players = players_of(match)
    while not match.over and len(found) < most:
        for turn in match.asks():
            if turn.seat in build.seats:
                found.append(turn)
            moves = turn.question is None
            match.answer(turn.id, players[turn.seat].decide(turn) if moves else answered(turn))
            break
    return found


def answered(turn):
    """Any report to a probe."""
    asked = turn.question
    if asked.kind == "values":
        return Report({str(c): asked.low for c in asked.choices})
    odds = tuple(float(n == 0) for n in range(len(asked.choices)))
    return Report(asked.choices[0], odds if asked.kind == "odds" else None)


def said(turn, texts):
    """Whatever stands on a page, and the facts behind each sentence, in order."""
    desk = Desk(turn.desk.spec, turn.desk.game, turn.seat, 0, texts)
    words, facts, say = desk.words, [], desk.words.say

    def noting(key, **given):
        facts.append((key, given))
        return say(key, **given)

    words.say = noting
    parts = [
        words.rules(turn.seat),
        *words.lines(turn.view, 0, words.forms[0]),
        words.now(turn.view),
    ]
    if turn.question is None:
        parts.append(words.question(turn.view, turn.options))
    else:
        parts.append(words.aside(turn.question, turn.view, turn.pending))
    return "\n".join(parts), facts, words


@pytest.fixture(scope="module", params=GAMES)
def play(request):
    return request.param, moments(request.param)


def test_every_game_has_five_wordings_of_its_own_grammar():
    for game in GAMES:
        made = packs_from(grammar(game), shelf.game(game).texts)
        assert len(made) >= 5, (game, list(made))
        assert f"{game}_twin" in made


def test_no_sentence_gains_or_loses_a_fact():
    for game in GAMES:
        spec, rules = shelf.game(game), grammar(game)
        for pack in packs_from(rules, spec.texts).values():
            checked(pack, spec.texts)
            for key, text in pack.texts.items():
                lost = slots(spec.texts[key], key) - slots(text, key)
                assert lost <= set(rules.cover), (pack.name, key)
                ours = set(re.findall(r"\d+", re.sub(r"\{\w+\}", "", spec.texts[key])))
                assert set(re.findall(r"\d+", re.sub(r"\{\w+\}", "", text))) == ours


def test_a_reader_of_any_wording_finds_the_same_facts_and_the_same_moves(play):
    game, asks = play
    assert asks
    for pack in packs_from(grammar(game), shelf.game(game).texts).values():
        told, seen = {}, {}
        for turn in asks[:: max(1, len(asks) // 12)]:
            page, facts, words = said(turn, pack.texts)
            own, ours, _ = said(turn, {})
            assert [key for key, _ in facts] == [key for key, _ in ours], pack.name
            assert re.findall(r"\d+", page) == re.findall(r"\d+", own), pack.name
            told.setdefault(own, set()).add(page)
            seen.setdefault(page, set()).add(own)
            if turn.question is None and is_finite(turn.options):
                names = words.menu(turn.options)
                assert len(set(names)) == len(names)
                if words.scale(turn.options) is None:
                    chosen = words.read(f"{words.label}: {names[-1]}", turn.view, turn.options)
                    assert chosen == turn.options[-1]
        assert all(len(pages) == 1 for pages in told.values())  # nothing is added by chance
        assert all(len(pages) == 1 for pages in seen.values())  # two states are never one page


def test_a_twin_is_as_long_and_speaks_of_no_mind(play):
    game, asks = play
    pack = packs_from(grammar(game), shelf.game(game).texts)[f"{game}_twin"]
    for turn in asks[:: max(1, len(asks) // 6)]:
        page, own = said(turn, pack.texts)[0], said(turn, {})[0]
        assert 0.8 <= len(page) / len(own) <= 1.25, (len(page), len(own))
        assert MINDS.search(page) is None, (MINDS.search(page), page)


def test_stems_are_inflected():
    made = {form: inflected("machine", form) for form in ("n", "ns", "a", "the", "thens")}
    assert made == {
        "n": "machine", "ns": "machines", "a": "a machine", "the": "the machine",
        "thens": "the machines",
    }  # fmt: skip
    assert [inflected("wug", f) for f in ("v", "v3", "vd", "ving")] == [
        "wug", "wugs", "wugged", "wugging",
    ]  # fmt: skip
    assert inflected("turn to", "v3") == "turns to" and inflected("carry", "vd") == "carried"
    assert inflected("go/goes/went/going", "vd") == "went" and inflected("Robin", "the") == "Robin"
    assert inflected("engine", "a") == "an engine"


def test_a_grammar_that_is_none_says_why():
    with pytest.raises(BadInput, match="not TOML"):
        read_skins("game =", "here")
    with pytest.raises(BadInput, match="form"):
        read_skins('game = "g"\n[slots]\n"the cat" = "cat verb"', "here")
    with pytest.raises(BadInput, match="slot of g"):
        read_skins('game = "g"\n[slots]\n"the cat" = "cat the"\n[twin]\ndog = "robot"', "here")
