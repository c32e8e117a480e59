"""Every wording says what the game says: the same facts, the same moves, about other things."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.seat_context import SeatContext
from sally.core.prompt.skins import inflect, packs_from, read_skins
from sally.core.registry import packs, registry
from sally.core.rules.game import NATURE
from sally.core.rules.menu import is_finite
from sally.core.rules.probe import ProbeReport
from sally.core.rules.words import COMMON_TEXTS, check_pack, slots
from sally.runner.seating import players_of

SHIPPED = {game for game, home in registry.packages().items() if home.startswith("sally.")}
GAMES = sorted(SHIPPED)
MINDS = re.compile(
    r"\b(players?|believes?|thinks|persons?|people|somebody|teammate|opponent|partner|users?|"
    r"guesser|psychic|eavesdropper|rival|wants|likes|dislikes|agents)\b",
    re.I,
)


def grammar(game):
    home = registry.packages()[game]
    file = files(home) / "packs" / packs.SKINS
    return read_skins(file.read_text("utf-8"), game)


def moments(game, limit=40):
    """Asks of a few random games, each with the desk of its seat."""
    spec = registry.game(game)
    build = spec.build({})
    lineup = {str(s): PlayerSpec("random") for s in build.seats}
    helpers = {str(h): PlayerSpec(spec.occupants[h]) for h in build.helpers if h != NATURE}
    arms = {}
    for probe in spec.probes:
        for seat in probe.seats:
            if seat in build.seats:
                arms.setdefault(str(seat), []).append(probe.name)
    setup = Setup(
        Instance(game, game), 3, {**lineup, **helpers}, spec.version,
        {seat: tuple(names) for seat, names in arms.items()},
    )  # fmt: skip
    match, results = Match(spec, setup), []
    players = players_of(match)
    while not match.over and len(results) < limit:
        for turn in match.asks():
            if turn.seat in build.seats:
                results.append(turn)
            moves = turn.question is None
            match.answer(turn.id, players[turn.seat].decide(turn) if moves else answer(turn))
            break
    return results


def answer(turn):
    """Any report to a probe."""
    asked_question = turn.question
    if asked_question.kind == "values":
        return ProbeReport({str(c): asked_question.low for c in asked_question.choices})
    odds = tuple(float(n == 0) for n in range(len(asked_question.choices)))
    return ProbeReport(asked_question.choices[0], odds if asked_question.kind == "odds" else None)


def read_output(turn, texts):
    """Whatever stands on a page, and the facts behind each sentence, in order."""
    context = SeatContext(turn.context.spec, turn.context.game, turn.seat, 0, texts)
    words, facts, say = context.words, [], context.words.say

    def noting(key, **arguments):
        facts.append((key, arguments))
        return say(key, **arguments)

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


def test_every_game_grammar_yields_at_least_five_wordings():
    for game in GAMES:
        new_packs = packs_from(grammar(game), registry.game(game).texts)
        assert len(new_packs) >= 5, (game, list(new_packs))
        assert f"{game}_twin" in new_packs


def test_no_sentence_gains_or_loses_a_fact():
    for game in GAMES:
        spec, rules = registry.game(game), grammar(game)
        for pack in packs_from(rules, spec.texts).values():
            check_pack(pack, spec.texts)
            for key, text in pack.texts.items():
                own_field = {**COMMON_TEXTS, **spec.texts}[key]
                lost = slots(own_field, key) - slots(text, key)
                assert lost <= set(rules.cover), (pack.name, key)
                ours = set(re.findall(r"\d+", re.sub(r"\{\w+\}", "", own_field)))
                assert set(re.findall(r"\d+", re.sub(r"\{\w+\}", "", text))) == ours


def test_every_wording_has_the_same_facts_and_moves(play):
    game, asks = play
    assert asks
    for pack in packs_from(grammar(game), registry.game(game).texts).values():
        fields, seen_fields = {}, {}
        for turn in asks[:: max(1, len(asks) // 12)]:
            page, facts, words = read_output(turn, pack.texts)
            own_text, ours, _ = read_output(turn, {})
            assert sorted(key for key, _ in facts) == sorted(key for key, _ in ours), pack.name
            assert sorted(re.findall(r"\d+", page)) == sorted(re.findall(r"\d+", own_text)), (
                pack.name
            )
            if not pack.name.endswith("_order"):  # which lists the same things the other way round
                assert [key for key, _ in facts] == [key for key, _ in ours], pack.name
                assert re.findall(r"\d+", page) == re.findall(r"\d+", own_text), pack.name
            fields.setdefault(own_text, set()).add(page)
            seen_fields.setdefault(page, set()).add(own_text)
            if turn.question is None and is_finite(turn.options):
                names = words.menu(turn.options)
                assert len(set(names)) == len(names)
                if words.scale(turn.options) is None:
                    chosen = words.read(f"{words.label}: {names[-1]}", turn.view, turn.options)
                    assert chosen == turn.options[-1]
        assert all(len(pages) == 1 for pages in fields.values())  # nothing is added by chance
        assert all(
            len(pages) == 1 for pages in seen_fields.values()
        )  # two states are never one page


def test_twin_has_similar_length_and_no_mental_terms(play):
    game, asks = play
    pack = packs_from(grammar(game), registry.game(game).texts)[f"{game}_twin"]
    for turn in asks[:: max(1, len(asks) // 6)]:
        page, own_text = read_output(turn, pack.texts)[0], read_output(turn, {})[0]
        assert 0.8 <= len(page) / len(own_text) <= 1.25, (len(page), len(own_text))
        assert MINDS.search(page) is None, (MINDS.search(page), page)


def test_stems_are_inflected():
    made = {form: inflect("machine", form) for form in ("n", "ns", "a", "the", "thens")}
    assert made == {
        "n": "machine", "ns": "machines", "a": "a machine", "the": "the machine",
        "thens": "the machines",
    }  # fmt: skip
    assert [inflect("wug", f) for f in ("v", "v3", "vd", "ving")] == [
        "wug", "wugs", "wugged", "wugging",
    ]  # fmt: skip
    assert inflect("turn to", "v3") == "turns to" and inflect("carry", "vd") == "carried"
    assert inflect("go/goes/went/going", "vd") == "went" and inflect("Robin", "the") == "Robin"
    assert inflect("engine", "a") == "an engine"


def test_invalid_grammar_is_refused_with_the_reason():
    with pytest.raises(BadInput, match="not TOML"):
        read_skins("game =", "here")
    with pytest.raises(BadInput, match="form"):
        read_skins('game = "g"\n[slots]\n"the cat" = "cat verb"', "here")
    with pytest.raises(BadInput, match="slot of g"):
        read_skins('game = "g"\n[slots]\n"the cat" = "cat the"\n[twin]\ndog = "robot"', "here")


# --- a reader recovers the state from the page ----------------------------------------------------


def recover(template, sentence):
    """The facts that a reader finds in a sentence by its template; None where two readings fit."""
    names = re.findall(r"\{(\w+)\}", template.replace("{{", "").replace("}}", ""))
    readings = []
    for any_text in (".*", ".*?"):  # the longest and the shortest reading
        seen, pattern = set(), ""
        for part in re.split(r"(\{\{|\}\}|\{\w+\})", template):
            name = part[1:-1]
            if part in ("{{", "}}"):
                pattern += re.escape(part[0])
            elif part.startswith("{"):
                pattern += f"(?P={name})" if name in seen else f"(?P<{name}>{any_text})"
                seen.add(name)
            else:
                pattern += re.escape(part)
        match = re.fullmatch(pattern, sentence, re.S)
        assert match is not None, (template, sentence)
        readings.append(match.groupdict())
    return (
        readings[0] if readings[0] == readings[1] and len(readings[0]) == len(set(names)) else None
    )


def test_facts_can_be_recovered_from_every_wording(play):
    game, asks = play
    texts = {**COMMON_TEXTS, **registry.game(game).texts}
    cover = set(grammar(game).cover)
    for pack in packs_from(grammar(game), registry.game(game).texts).values():
        for turn in asks[:: max(1, len(asks) // 2)]:
            for key, given in read_output(turn, pack.texts)[1]:
                template = {**texts, **pack.texts}[key]
                there = {k: str(v) for k, v in given.items() if k in slots(template, key)}
                result = recover(template, template.format_map(given))
                own_text = recover(texts[key], texts[key].format_map(given))
                assert (result is None) <= (own_text is None), (pack.name, key, template)
                assert result in (None, there), (pack.name, key)
                assert slots(texts[key], key) - set(there) <= cover


def test_relabelled_page_differs_only_in_labels(play):
    game, asks = play
    new_packs = packs_from(grammar(game), registry.game(game).texts)
    for kind in ("labels", "swapped"):
        pack = new_packs.get(f"{game}_{kind}")
        if pack is None or "labels" not in pack.texts:
            continue  # the names of its moves have a meaning, or stand in its texts
        turn = next(t for t in asks if t.question is None)
        page, _, words = read_output(turn, pack.texts)
        own_page, _, own_words = read_output(turn, {})
        back = dict(zip(words.menu(turn.options), own_words.menu(turn.options), strict=True))
        names = "|".join(re.escape(n) for n in sorted(back, key=len, reverse=True))
        moved = any(new != old for new, old in back.items())
        assert moved or game == "level_k"  # where only the sides of a coin have such names
        assert re.sub(rf"\b({names})\b", lambda hit, back=back: back[hit.group()], page) == own_page
        for option, name in zip(turn.options, words.menu(turn.options), strict=True):
            if words.scale(turn.options) is None:
                assert words.read(f"{words.label}: {name}", turn.view, turn.options) == option


def test_sides_of_a_coin_swap_their_names():
    spec = registry.game("matching_pennies")
    pack = packs_from(grammar("level_k"), spec.texts)["level_k_swapped"]
    game = spec.build({})
    own_word, other_word = (
        SeatContext(spec, game, game.seats[0], 0, t).words for t in ({}, pack.texts)
    )
    options = game.options(game.start(), game.seats[0])
    assert other_word.menu(options) == own_word.menu(options)[::-1]
