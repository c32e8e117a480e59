"""The rules reader against messages of our own, each labelled by hand.

Rows of the file: `told` holds cells with + - 0, `likes` columns, `knows` cells (`A*`: all of A,
`**`: all), `picks` proposals; x, y, z are the story's attributes in order. `after` holds earlier
(message, reply) pairs. A row marked `beyond` names what the rules do not reach yet.
"""

from pathlib import Path

import msgspec
import pytest

from sally.games.mindgames.claims import Asked, Claims, Disclosure, Names, claims
from sally.games.mindgames.reading import read
from sally.games.mindgames.stories import story


class Labelled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    story: str
    text: str
    told: str = ""
    likes: str = ""
    knows: str = ""
    picks: str = ""
    after: tuple[tuple[str, str], ...] = ()
    beyond: str = ""

    def claims(self, names: Names) -> Claims:
        column = dict(zip("xyz", names.attributes, strict=True))
        utility = {"+": 1, "-": -1, "0": 0}
        return claims(
            [Disclosure(c[0], column[c[1]], utility[c[2]]) for c in self.told.split()],
            [column[x] for x in self.likes],
            [Asked(p, column[x]) for p, x in _cells(self.knows)],
            list(self.picks),
        )


def _cells(text: str) -> list[tuple[str, str]]:
    return [
        (p, x)
        for row, col in zip(text[::2], text[1::2], strict=True)
        for p in ("ABC" if row == "*" else row)
        for x in ("xyz" if col == "*" else col)
    ]


LINES = Path(__file__).with_name("messages.jsonl").read_text(encoding="utf-8").splitlines()
MESSAGES = [msgspec.json.decode(line, type=Labelled) for line in LINES]


def found(row: Labelled) -> Claims:
    return read(row.text, story(row.story).names(), row.after)


@pytest.mark.parametrize("row", [m for m in MESSAGES if not m.beyond], ids=lambda m: m.text[:60])
def test_a_message_is_read_as_a_person_would(row: Labelled) -> None:
    assert found(row) == row.claims(story(row.story).names())


@pytest.mark.parametrize("row", [m for m in MESSAGES if m.beyond], ids=lambda m: m.text[:60])
def test_what_is_said_to_be_beyond_the_rules_still_is(row: Labelled) -> None:
    assert found(row) != row.claims(story(row.story).names())


def test_there_are_at_least_300_messages_over_all_stories_and_kinds() -> None:
    assert len(MESSAGES) >= 300
    assert len({m.story for m in MESSAGES}) == 6
    for kind in ("told", "likes", "knows", "picks", "after"):
        assert sum(bool(getattr(m, kind)) for m in MESSAGES) >= 12
    assert sum(bool(m.beyond) for m in MESSAGES) <= 15
