"""What participants read: titles, roles and sentences, and never a code name or a paper's key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally.core.display.board import board_of
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Instance
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.words import slots
from sally.web.live.screen import over_of
from sally.web.study.definition import EXAMPLES, check_study, read_human_study
from sally.web.texts import ENGLISH, languages, shipped_texts, texts_of
from tests.table import unlike_games
from tests.web.guests import Guest, Json, play, sit, web_server

GAMES = [n for n in unlike_games() if registry.game(n).game.__module__.startswith("sally.")]
KEY = re.compile(r"\b[a-z]+[0-9]{4}\b")  # such as kang2026
SHOUTED = re.compile(r"\b[A-Z]{3,}\b")  # such as WAIT
UNREAD = (
    "id",
    "value",
    "values",
    "kind",
    "name",
    "type",
    "mark",
    "answer",
    "seat",
    "most",
    "fill",
    "draft",
)


def read(seen: Any, key: str = "") -> list[str]:
    """Every text of a screen that is shown to a person."""
    if isinstance(seen, dict):
        return [t for k, v in seen.items() if k not in UNREAD for t in read(v, k)]
    if isinstance(seen, list):
        return [t for v in seen for t in read(v, key)]
    return [seen] if isinstance(seen, str) and key != "pattern" else []


def problems(text: str) -> list[str]:
    return [*re.findall(r"\w*_\w+|\w+_\w*", text), *KEY.findall(text), *SHOUTED.findall(text)]


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_titles_and_seat_names_for_people(game: str) -> None:
    spec = registry.game(game)
    assert game in spec.people.titles and game in spec.people.sentences, (
        f"{game} has no words for people"
    )
    titles = [spec.title, spec.sentence, *spec.people.roles.values()]
    assert [p for text in titles for p in problems(text)] == []
    assert spec.title[0].isupper() and spec.sentence[-1] in ".?"
    seats = spec.build().seats
    assert set(spec.people.roles) >= set(seats) or set(seats) == {"agent", "partner"}


@pytest.mark.parametrize("game", GAMES)
def test_texts_for_people_replace_known_sentences_or_fields(game: str) -> None:
    spec = registry.game(game)
    unknown = set(spec.people.texts) - set(spec.texts)
    assert [key for key in unknown if not key.startswith("field.")] == []


@pytest.mark.parametrize("game", GAMES)
def test_no_code_name_is_shown_on_any_screen(game: str, tmp_path: Path) -> None:
    texts: list[str] = []

    class Reader(Guest):
        def see(self, query: str = "") -> Json:
            screen = super().see(query)
            texts.extend(p for text in read(screen) for p in problems(text))
            return screen

    with web_server(tmp_path) as web:
        small = {"rounds": 2, "turns": 2, "max_turns": 2, "messages": 2}
        offer = next(o for o in web.get("/api/games").json() if o["name"] == game)
        params = {p["name"]: small[p["name"]] for p in offer["parameters"] if p["name"] in small}
        for seat in offer["seats"]:
            guest, _ = sit(web, game, seat, params=params, probes=offer["probes"][seat])
            play([Reader(guest.web, guest.token)], turns=12)
    assert texts == []


def test_german_texts_have_the_same_keys_and_slots_as_english() -> None:
    english = shipped_texts(ENGLISH).said
    for language in languages():
        said = shipped_texts(language).said
        assert set(said) == set(english)
        assert [k for k in said if slots(said[k], k) != slots(english[k], k)] == []
        assert language == ENGLISH or sum(said[k] == english[k] for k in said) <= 2


def test_study_may_replace_a_sentence_but_not_invent_one() -> None:
    assert texts_of("de", {"game.start": "Los"})("game.start") == "Los"
    with pytest.raises(BadInput, match="did you mean"):
        texts_of("de", {"game.strat": "Los"})
    with pytest.raises(BadInput, match="no placeholder"):
        texts_of("en", {"game.start": "Go, {name}"})


def test_replaced_sentence_may_format_a_number() -> None:
    own_fields = {"survey.limit": "At most {limit:,} characters {{here}}."}
    assert (
        texts_of("en", own_fields)("survey.limit", limit=1200) == "At most 1,200 characters {here}."
    )


@pytest.mark.parametrize(
    "sentence",
    ["{limit", "limit}", "{limit.real}", "{limit[0]}", "{0}", "{}", "{limit:{limit.real}}"],
)
def test_replaced_sentence_with_other_braces_is_refused(sentence: str) -> None:
    with pytest.raises(BadInput, match=r"survey\.limit"):
        texts_of("en", {"survey.limit": sentence})


def test_texts_contain_every_key_used_in_templates_and_scripts() -> None:
    home = Path("sally/web")
    keys = set(shipped_texts(ENGLISH).said)
    used = {
        k
        for f in home.rglob("*.html")
        for k in re.findall(r'(?<![\w.])t\("([a-z_.]+)"', f.read_text())
    }
    used |= {
        f"js.{k}"
        for f in home.rglob("*.js")
        for k in re.findall(r'(?<![\w.])t\("(\w+)"', f.read_text())
    }
    used |= {
        k
        for f in home.rglob("*.py")
        for k in re.findall(r'(?:t|texts)\(\s*"([a-z]+\.[a-z_]+)"', f.read_text())
    }
    used |= {
        f"notice.{k}{end}"
        for f in home.rglob("*.py")
        for k in re.findall(r'common_notice\(\s*\w+,\s*"([a-z_]+)"', f.read_text())
        for end in ("", "_text")
    }
    assert used - keys - {"game."} == set()
    made = (  # keys put together
        *("game.", "over.", "js.book_", "js.made_by", "js.used_in", "js.refused_"),
        *("survey.likert_", "common.decimal", "common.minute", "common.second"),
    )
    assert {k for k in keys if not k.startswith(made)} - used == set(), "nobody says these"
    assert msgspec.json.encode(shipped_texts(ENGLISH).for_scripts())


def test_standard_texts_are_german_in_a_german_study(tmp_path: Path) -> None:
    text = EXAMPLES["de"].read_text(encoding="utf-8")
    bare = re.sub(r'(?s)debrief = """.*?"""|\nagree = "[^"]*"', "", text)
    likert = '[[survey]]\nkind = "likert"\nname = "fair"\nquestion = "War das fair?"\n'
    (tmp_path / "study.toml").write_text(bare.replace("[bonus]", f"{likert}[bonus]"))
    study = read_human_study(tmp_path / "study.toml")
    assert study.consent.agree.startswith("Ich habe") and study.debrief.startswith("Vielen Dank")
    assert study.survey[-1].options[0] == "Stimme gar nicht zu"  # type: ignore[union-attr]
    assert study.page_texts.number("1.20") == "1,20"


def test_blocks_refer_to_instances_by_id(tmp_path: Path) -> None:
    text = EXAMPLES["en"].read_text(encoding="utf-8").replace("rounds = 2  ", "# ")
    block = '[[conditions.blocks]]\nname = "one"\ninstances = ["{id}"]\n\n[[survey]]'
    file = tmp_path / "study.toml"
    file.write_text(text.replace("[[survey]]", block.replace("{id}", "ibs-5"), 1))
    study = read_human_study(file)
    assert [i.game for i in study.problems(study.conditions[1])] == ["ibs"]
    file.write_text(text.replace("[[survey]]", block.replace("{id}", "ibs-6"), 1))
    with pytest.raises(BadInput, match="no instance named 'ibs-6'"):
        read_human_study(file)


def test_german_study_is_german_during_play() -> None:
    study = read_human_study(EXAMPLES["de"])
    assert study.untranslated_games == [] and set(study.people_texts) == {"ipd", "ibs"}
    spec = registry.game("ipd")
    game = spec.build({"rounds": 5})
    context = SeatContext(spec, game, Seat("agent"), 1, study.people_texts["ipd"])
    view = game.observe(game.start(), Seat("agent"))
    board = board_of(context, view)
    assert board is not None
    rules = [context.words.rules(Seat("agent")), context.words.question(view, (0, 1))]
    rules.append(str(board.parts))
    assert "Welche Option wählen Sie in dieser Runde, Option J oder Option F?" in rules
    english = re.compile(r"\b(you|the other player|round|or|pick|win)\b")
    assert [text for text in rules if english.search(text)] == []


def test_game_without_a_pack_is_reported_as_untranslated() -> None:
    study = read_human_study(EXAMPLES["de"])
    rps = Instance("rps-5", "rps", {"rounds": 5})
    other = msgspec.structs.replace(rps, id="taboo", game="taboo", params={})
    mixed = msgspec.structs.replace(study, instances=(rps, other), titles={})
    assert mixed.untranslated_games == ["taboo"]
    wrong = msgspec.structs.replace(study, words={"ipd": "repeated_games_money", "rps": "x"})
    with pytest.raises(BadInput, match="not a game of this study"):
        check_study(wrong)


def test_end_message_is_in_the_language_of_the_study() -> None:
    end = Censored(0, "left", "", "agent")
    assert over_of("agent", end, shipped_texts("de")).text.startswith("Sie sind gegangen")
    assert over_of("partner", end, shipped_texts("en")).text.startswith("A player left")
