"""What our persuaders write is read as exactly what they mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.problem_sets.mindgames import wins
from sally.core.match.seat_context import SeatContext
from sally.games.mindgames import GAME
from sally.games.mindgames.claims import Asked, Claims, Disclosure, Names, claims
from sally.games.mindgames.reader import read
from sally.games.mindgames.replies import in_json, in_sentences, parse_discrete
from sally.games.mindgames.rules import LIMIT, PERSUADER, MindGame
from sally.games.mindgames.stories import stories
from sally.games.mindgames.words import SCRIPT, perfect_talk, script_claims

every_story = pytest.mark.parametrize("story", stories(), ids=lambda s: s.name)


def load_complete(names: Names) -> Claims:
    """Everything that can be asked at once."""
    cells = [Asked(p, a) for p in names.proposals for a in names.attributes]
    return claims((), names.attributes, cells, names.proposals)


@every_story
@given(data=st.data())
def test_any_disclosures_of_one_proposal_are_read_back(story, data) -> None:  # type: ignore[no-untyped-def]
    names = story.names()
    proposal = data.draw(st.sampled_from(names.proposals))
    told = data.draw(st.dictionaries(st.sampled_from(names.attributes), st.integers(-1, 1)))
    meant = claims(Disclosure(proposal, a, u) for a, u in told.items())
    message = in_sentences(meant, names)
    assert len(message) <= LIMIT
    assert read(message, names) == meant
    assert parse_discrete(in_json(meant), names) == meant


@every_story
def test_questions_are_read_back(story) -> None:  # type: ignore[no-untyped-def]
    names = story.names()
    everything = load_complete(names)
    asked = [
        everything,
        claims((), everything.motivational, everything.informational),
        claims((), names.attributes[:1]),
        claims(inferential=names.proposals),
        Claims(),
    ]
    for meant in asked:
        assert read(in_sentences(meant, names), names) == meant
        assert parse_discrete(in_json(meant), names) == meant


@every_story
def test_perfect_game_text_is_read_as_its_script_and_wins(story) -> None:  # type: ignore[no-untyped-def]
    if not story.mental:
        return
    game = MindGame(story=story.name, variant="perfect_game")
    names, shown = game.names, game.example_puzzle
    page = SeatContext(GAME, game, PERSUADER, 1).words.rules(PERSUADER)
    talk = page.partition("This is all that was written:\n")[2].splitlines()[: 2 * len(SCRIPT)]
    earlier: list[tuple[str, str]] = []
    for key, said, reply in zip(SCRIPT, talk[::2], talk[1::2], strict=True):
        message = said.removeprefix("You: ")
        assert read(message, names, earlier, shown) == script_claims(key, shown, names)
        earlier.append((message, reply.removeprefix("The other player: ")))
    told = [d for line in perfect_talk(shown, names, "frozen") for d in line.disclosures]
    assert wins(shown, [names.cell(d.proposal, d.attribute) for d in told])
