"""How many recorded replies of language models this reader reads as a choice.

    python -m benchmarks.hostile.recorded_replies

The replies are those in docs/results/bundles, each counted once. They are read against the letters
of the matrix games, or numbers from 1 to 5, so that two versions of the reader can be compared; it
is not the menu that each model had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sally import store
from sally.core.errors import Unreadable
from sally.core.reply.reading import VERSION, read_choice, read_numbered
from sally.output.files.bundle_reader import opened

BUNDLES = Path("docs/results/bundles")
LETTERS = ("J", "F", "R", "P", "S")
LETTERED, NUMBERED = ("rps", "ipd", "ibs"), ("toma_po", "toma_mg", "pick_the_right_stuff")


def replies(bundle: Path) -> Iterator[tuple[str, str, str]]:
    """The game, the kind of event and the text of every reply in a bundle."""
    with opened(bundle) as (place, _):
        for episode in store.load(place).episodes.values():
            for event in episode.events:
                for call in event.calls:
                    if call.reply.strip():
                        yield episode.setup.instance.game, type(event).__name__, call.reply


def is_read(game: str, kind: str, reply: str) -> bool:
    """Whether the reply is read as a choice."""
    with suppress(Unreadable):
        if game in LETTERED:
            read_choice(reply, LETTERS, "Option", theirs=kind == "Reported")
        else:
            read_numbered(reply, [f"place {n}" for n in range(1, 6)], "Answer")
        return True
    return False


def main() -> None:
    """Count them, short and long."""
    known = {each for path in sorted(BUNDLES.glob("*.zip")) for each in replies(path)}
    counts = Counter[tuple[str, bool]]()
    for game, kind, reply in known:
        if game in (*LETTERED, *NUMBERED):
            length = "long" if len(reply) > 60 else "short"
            counts[length, is_read(game, kind, reply)] += 1
    for length in ("short", "long"):
        read, not_read = counts[length, True], counts[length, False]
        print(f"reader {VERSION}: {length} replies: {read} read, {not_read} not")


if __name__ == "__main__":
    main()
