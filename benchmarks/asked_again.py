"""How often models were asked again because a reply was not in the format.

    python benchmarks/asked_again.py --runs PATH ...              # as the runs were played
    python benchmarks/asked_again.py --installed --runs PATH ...  # by the installed rule
    python benchmarks/asked_again.py --installed                  # all shipped runs

PATH is a store or a bundle. Each row is one model: its answers (moves and probe answers that were
read from replies), the shares read at the first, second and third try, and the share forfeited.
With `--installed`, the logged replies are read again. `open` is the share for which the log has no
further reply, because the rule of its time had read the last one; it would be asked again. Of the
answers that both rules read, `differ` is the number read as something else; for forfeits and
unreadable probe answers that are read now, see `now read`.
Answers that take several samples (self_consistency) are left out, and so are choices by scoring.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sally import store
from sally.core.errors import BadInput, Unreadable
from sally.core.log.events import Episode
from sally.runner.reread import StoredAnswer, answers, as_plain, read_as_installed
from sally.store.bundles import open_store

ROOT = Path(__file__).resolve().parent.parent
TRIES = ("first", "second", "third")
ANSWERING = ("move", "probe")  # purposes of the calls whose replies are read as the answer
Tally = Counter[str]


def list_bundles() -> list[Path]:
    """Return the bundles of the repository."""
    return sorted((ROOT / "docs").rglob("*.sally.zip"))


def model_of(episode: Episode, seat: str) -> str:
    """Return the name of the model in a seat, without its folder."""
    return str(episode.setup.lineup[seat].params.get("model", "embedded")).rpartition("/")[2]


def as_played(answer: StoredAnswer) -> Iterator[str]:
    """Yield the column of an answer by the number of tries that it took."""
    tries = min(answer.event.tries, len(TRIES))
    yield "forfeited" if answer.value is None else TRIES[tries - 1]


def by_installed_rule(answer: StoredAnswer) -> Iterator[str]:
    """Yield the columns of an answer whose logged replies are read by the installed rule."""
    calls = [call for call in answer.event.calls if call.purpose in ANSWERING and not call.failure]
    for tries, call in enumerate(calls):
        try:
            value = read_as_installed(answer.prompt, answer.turn, answer.result(call.reply, call))
        except Unreadable:
            continue
        yield TRIES[min(tries, len(TRIES) - 1)]
        if answer.value is None:
            yield "now read"
        elif as_plain(value) != answer.value:
            yield "differ"
        return
    is_spent = len(calls) > answer.turn.context.retries
    yield "forfeited" if is_spent else "open"


def tally(path: Path, by_rule: bool) -> tuple[dict[str, Tally], int]:
    """Return the answers of a store by model and column, and the number of episodes left out."""
    counts, skipped = defaultdict[str, Tally](Counter), 0
    with open_store(path) as (place, _):
        episodes = store.load(place).episodes.values()
        for episode in episodes:
            try:
                for answer in answers(episode):
                    seat = answer.turn.seat
                    if episode.setup.lineup[seat].params.get("strategy") == "self_consistency":
                        continue
                    columns = by_installed_rule(answer) if by_rule else as_played(answer)
                    counts[model_of(episode, seat)].update(["answers", *columns])
            except (BadInput, LookupError):
                skipped += 1
    return counts, skipped


def shares(counts: Tally, by_rule: bool) -> list[str]:
    """Return the cells of a row."""
    number = counts["answers"]
    cells = [f"{number:,}", *(f"{counts[column] / number:.1%}" for column in (*TRIES, "forfeited"))]
    if by_rule:
        cells += [f"{counts['open'] / number:.1%}", f"{counts['differ']}", f"{counts['now read']}"]
    return cells


def print_row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", nargs="+", type=Path, metavar="PATH", help="stores or bundles")
    parser.add_argument("--installed", action="store_true", help="read by the installed rule")
    options = parser.parse_args()
    extra_columns = ("open", "differ", "now read") if options.installed else ()
    header = (
        "run",
        "model",
        "answers",
        "first try",
        "second",
        "third",
        "forfeited",
        *extra_columns,
    )
    print_row(*header)
    print_row(*["---"] * len(header))
    totals = defaultdict[str, Tally](Counter)
    for path in options.runs or list_bundles():
        by_model, skipped = tally(path, options.installed)
        for model, counts in sorted(by_model.items()):
            name = path.name.removesuffix(".sally.zip")
            print_row(name, model, *shares(counts, options.installed))
            totals[model] += counts
        if skipped:
            print(f"{path.name}: {skipped} episodes of other versions of a game left out")
    for model, counts in sorted(totals.items()):
        print_row("all", model, *shares(counts, options.installed))


if __name__ == "__main__":
    main()
