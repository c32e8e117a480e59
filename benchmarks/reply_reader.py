"""Both errors of the reply reader on real replies, and what each clause of its rule buys.

    python benchmarks/reply_reader.py                 # error rates on the labelled replies
    python benchmarks/reply_reader.py --logs FOLDER   # also the published ones, from a checkout
    python benchmarks/reply_reader.py --clauses       # the same rule without each of its clauses
    python benchmarks/reply_reader.py --lists         # what the old adversarial lists cost
    python benchmarks/reply_reader.py --wrong         # every wrong verdict

Four sets of replies, drawn with fixed seeds from the shipped runs; the first two have 120 replies
of published logs each.
A label is the option that a careful person would book, or null if the reply is unclear; each reply
has two, made without the verdict of any reader. Where they differ, the reply counts as unclear.
Published replies are stored as hash and label only.

* `tests/core/labelled_replies.jsonl`: the first set. The rule was tuned on it.
* `tests/core/fresh_replies.jsonl`: drawn later by `reply_sample.py`. Version 6 was tuned on the
  games marked `tuned_on`, version 7 on all of them.
* `tests/core/third_replies.jsonl`, `tests/core/fourth_replies.jsonl`: drawn for version 7, each
  labelled before the rule read it, and then tuned on. The figures at first sight are in
  docs/reference/replies.md. `inferred` marks clear replies that do not name their option.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.reader_v4 import reading as version_4
from benchmarks.reply_sample import FIRST_SET, ROOT, published_replies, sha
from sally.core.errors import Unreadable
from sally.core.reply import plain_text
from sally.core.reply import reading as version_5

FRESH_SET = ROOT / "tests/core/fresh_replies.jsonl"
THIRD_SET = ROOT / "tests/core/third_replies.jsonl"
FOURTH_SET = ROOT / "tests/core/fourth_replies.jsonl"
SETS = (FIRST_SET, FRESH_SET, THIRD_SET, FOURTH_SET)


def read(reply: dict[str, Any], version: Any = version_5) -> int | None:
    """Return what a version of the reader makes of a reply: a place, a number, or None."""
    text, label, theirs = reply["reply"], reply["label"], reply.get("kind", "move") != "move"
    try:
        if reply.get("low") is not None:
            return int(version.read_number(text, reply["low"], reply["high"], label, theirs))
        if reply.get("numbered"):
            return int(version.read_numbered(text, reply["names"], label))
        return int(version.read_choice(text, reply["names"], label, theirs))
    except Unreadable:
        return None


def first_named(reply: dict[str, Any]) -> int | None:
    """Return the option that a reply names first, the crudest rule in use."""
    text = reply["reply"]
    if reply.get("low") is not None:
        found = re.search(r"\d+", text)
        return int(found[0]) if found else None
    places = [(text.find(name), n) for n, name in enumerate(reply["names"])]
    named = sorted(at for at in places if at[0] >= 0)
    return named[0][1] if named else None


def labelled(path: Path = FIRST_SET, logs: Path | None = None) -> Iterator[dict[str, Any]]:
    """Return the labelled replies of a set; published ones only with the logs that hold them."""
    texts = {sha(each["reply"]): each for each in published_replies(logs)} if logs else {}
    for line in path.read_text("utf-8").splitlines():
        reply = json.loads(line)
        if "sha256" in reply:
            if reply["sha256"] not in texts:
                continue
            reply = {**texts[reply["sha256"]], **reply}
        one, other = reply["first"], reply.get("second", reply["first"])
        reply["truth"] = one if one == other else None
        yield reply


# --- measuring ------------------------------------------------------------------------------


def rates(replies: list[dict[str, Any]], reader: Any = read) -> dict[str, float]:
    """Return the shares of clear replies refused or misread, and of unclear ones taken."""
    clear = [r for r in replies if r["truth"] is not None]
    unclear = [r for r in replies if r["truth"] is None]
    verdicts = [(r["truth"], reader(r)) for r in clear]
    return {
        "clear": len(clear),
        "refused": sum(v is None for _, v in verdicts) / max(1, len(clear)),
        "misread": sum(v is not None and v != t for t, v in verdicts) / max(1, len(clear)),
        "unclear": len(unclear),
        "taken": sum(reader(r) is not None for r in unclear) / max(1, len(unclear)),
    }


def kappa(replies: list[dict[str, Any]]) -> tuple[float, float]:
    """Return the raw agreement of the two labels, and Cohen's kappa of clear against unclear."""
    same = sum(r["first"] == r["second"] for r in replies) / len(replies)
    pairs = Counter((r["first"] is None, r["second"] is None) for r in replies)
    n = len(replies)
    agreed = (pairs[True, True] + pairs[False, False]) / n
    first = (pairs[True, True] + pairs[True, False]) / n
    second = (pairs[True, True] + pairs[False, True]) / n
    chance = first * second + (1 - first) * (1 - second)
    return same, (agreed - chance) / (1 - chance)


def _agreement(replies: list[dict[str, Any]]) -> str:
    if not all("second" in reply for reply in replies):
        return "labelled once so far"
    same, agreement = kappa(replies)
    return f"labels agree on {same:.1%}, kappa {agreement:.2f}"


def _row(name: str, replies: list[dict[str, Any]], reader: Any) -> str:
    r = rates(replies, reader)
    return (
        f"  {name}: of {r['clear']} clear {r['refused']:.1%} refused, {r['misread']:.1%} misread; "
        f"of {r['unclear']} unclear {r['taken']:.1%} taken"
    )


READERS = {
    "version 7": read,
    "version 4": lambda reply: read(reply, version_4),
    "first option named": first_named,
}


def measured(logs: Path | None) -> None:
    """Print both errors, by set and half."""
    fresh, kept = list(labelled(FRESH_SET, logs)), "published" if logs else "kept"
    groups = {
        "first set": list(labelled(FIRST_SET, logs)),
        "fresh set": fresh,
        "third set": list(labelled(THIRD_SET)),
        "fourth set": list(labelled(FOURTH_SET)),
    }
    groups["all sets"] = [reply for replies in groups.values() for reply in replies]
    groups["all sets, without clear replies that do not name their option"] = [
        reply for reply in groups["all sets"] if not reply.get("inferred")
    ]
    for name, replies in groups.items():
        print(f"{name}: {len(replies)} replies; {_agreement(replies)}")
        for version, reader in READERS.items():
            print(_row(version, replies, reader))
        if logs:
            own = [r for r in replies if "sha256" not in r]
            print(_row("version 7 without the published ones", own, read))
            if others := [r for r in replies if "sha256" in r]:
                print(_row("version 7, only the published ones", others, read))
    if not logs:
        print(f"(replies that are {kept}; --logs FOLDER adds the published ones)")


# --- clauses --------------------------------------------------------------------------------

NEVER = re.compile(r"(?!)()()")
CLAUSES: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "(a) a JSON answer field": ((version_5, "_field", lambda reply, label: None),),
    "(b) labelled lines": ((version_5, "_stated", lambda text, label: []),),
    "(b) labels other than the game's": ((version_5, "LABELS", ("-",)),),
    "(b) labels after introductory words": ((version_5, "_LEADS", NEVER),),
    "(b) lines that hold nothing but an option": (
        (version_5, "_bare_lines", lambda text, find: []),
    ),
    "(c) the one option named": ((version_5, "_named", lambda *given, **more: None),),
    "(c) the object of every choice": ((version_5, "_committed", lambda *given: None),),
    "(c) few words need no verb": ((version_5, "FEW_WORDS", 0),),
    "(c) asides are left out": ((version_5, "_ASIDE", NEVER),),
    "(c) the last clause of a sentence": ((version_5, "_last_clause", lambda sentence: ""),),
    "(c) nothing denies or doubts": ((version_5, "_DENIES", NEVER),),
    "(c) not about the past": ((version_5, "_PAST", NEVER),),
    "(c) about the right player": ((version_5, "_OTHERS", NEVER), (version_5, "_MINE", NEVER)),
    "(c) a verb of choosing": ((version_5, "_CHOOSES", re.compile("")),),
    "(c) not cut off": ((version_5, "_is_whole", lambda text, find: True),),
    "parts of numbers": ((version_5, "_is_part", lambda text, start, end: False),),
    "numbers of players and rounds": ((version_5, "_is_counted", lambda *given: False),),
    "thoughts in tags are removed": ((plain_text, "_THOUGHTS", NEVER),),
}


def clauses(logs: Path | None) -> None:
    """Print both errors on all labelled replies under the rule without each of its clauses."""
    replies = [reply for each in SETS for reply in labelled(each, logs)]
    print(_row("the whole rule", replies, read))
    for name, changes in CLAUSES.items():
        before = [getattr(where, what) for where, what, _ in changes]
        for where, what, value in changes:
            setattr(where, what, value)
        version_5.forget_readings()
        print(_row(f"without {name}", replies, read))
        for (where, what, _), value in zip(changes, before, strict=True):
            setattr(where, what, value)
    version_5.forget_readings()


# --- the old lists --------------------------------------------------------------------------


def lists() -> None:
    """Print what the old adversarial lists, written against version 4, cost each version."""
    for number, version in ((4, version_4), (7, version_5)):
        for name, rows in (("clear", _clear_rows()), ("unclear", _unclear_rows())):
            verdicts = [(wanted, read(row, version)) for row, wanted in rows]
            wrong = sum(got != wanted for wanted, got in verdicts)
            kind = "refused or misread" if name == "clear" else "taken"
            print(f"version {number}: {wrong} of {len(verdicts)} {name} replies {kind}")


def _clear_rows() -> list[tuple[dict[str, Any], int | None]]:
    groups = tomllib.loads((ROOT / "benchmarks/replies.toml").read_text("utf-8"))["group"]
    return [
        ({"reply": reply, "names": group["names"], "label": group["label"]}, at)
        for group in groups
        if group["kind"] == "choice"
        for reply, said in group["reads"]
        for at in [group["names"].index(said)]
    ]


def _unclear_rows() -> list[tuple[dict[str, Any], int | None]]:
    rows = tomllib.loads((ROOT / "benchmarks/unclear.toml").read_text("utf-8"))["unclear"]
    found = []
    for row in rows:
        text = row.replace("\\n", "\n").replace("{l}", "option").replace("{U}", "OPTION")
        text = text.replace("{L}", "Option").replace("{A}", "J").replace("{B}", "F")
        found.append(({"reply": text, "names": ["J", "F"], "label": "Option"}, None))
    return found


def wrong(logs: Path | None) -> None:
    """Print every wrong verdict on the labelled replies."""
    for reply in (reply for each in SETS for reply in labelled(each, logs)):
        if (got := read(reply)) != reply["truth"]:
            names = reply["names"] or [reply["low"], reply["high"]]
            print(reply["truth"], got, names, repr(reply["reply"][-300:]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--logs", type=Path, help="a folder with the published logs")
    parser.add_argument("--clauses", action="store_true", help="leave out each clause in turn")
    parser.add_argument("--lists", action="store_true", help="the old adversarial lists")
    parser.add_argument("--wrong", action="store_true", help="print every wrong verdict")
    given = parser.parse_args()
    if given.lists:
        lists()
    elif given.clauses:
        clauses(given.logs)
    elif given.wrong:
        wrong(given.logs)
    else:
        measured(given.logs)


if __name__ == "__main__":
    main()
