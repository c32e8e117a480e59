"""Both errors of the reply rule on real replies.

    python -m benchmarks.reply_reader                 # error rates on the labelled replies
    python -m benchmarks.reply_reader --logs FOLDER   # also the published ones, from a checkout
    python -m benchmarks.reply_reader --wrong         # every wrong verdict

Four sets of replies, drawn with fixed seeds from the shipped runs (`reply_sample.py`); the first
two have 120 replies of published logs each, of which only hash and label are stored.
A label is the option that a careful person would book, or null if the reply is unclear; each reply
has two, made without the verdict of any reader. Where they differ, the reply counts as unclear.
Version 8 of the rule was written after the replies of all four sets had been read.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.reply_sample import FIRST_SET, ROOT, published_replies, sha
from sally.core.errors import Unreadable
from sally.core.reply.plain_text import without_thoughts
from sally.core.reply.reader import VERSION, read_choice, read_number

SETS = (
    FIRST_SET,
    *(ROOT / f"tests/core/{name}_replies.jsonl" for name in ("fresh", "third", "fourth")),
)
LabelledReply = dict[str, Any]


def read(reply: LabelledReply) -> int | None:
    """Return what the rule makes of a reply: a place in the menu, a number, or None."""
    names, label = reply["names"], reply["label"]
    try:
        if reply.get("low") is not None:
            return read_number(reply["reply"], reply["low"], reply["high"], label)
        numbers = [str(n) for n in range(1, len(names) + 1)] if reply.get("numbered") else ()
        return read_choice(reply["reply"], names, label, numbers)
    except Unreadable:
        return None


def is_formatted(reply: LabelledReply) -> bool:
    """Return whether a clear reply is in the format: its last labelled line begins with the option,
    or it has no such line and is nothing but the option, a LaTeX box or a JSON object.

    This looks for the true option with patterns of its own, which are looser than the rule.
    """
    truth, label = reply["truth"], rf"{re.escape(reply['label'])}|(?:final )?answer"
    if truth is None:
        return False
    names = [str(truth)] if reply.get("low") is not None else [reply["names"][truth]]
    names += [str(truth + 1)] if reply.get("numbered") else []
    option = rf"(?:(?:{label}|option|the)[\W_]+)*(?:{'|'.join(map(re.escape, names))})(?!\w)"
    text = without_thoughts(reply["reply"]).strip()
    lines = re.findall(rf"(?im)^[\W\d_]*?(?:{label})[\W_]*?[:=](.*)", text)
    if lines:
        return re.match(rf"(?i)[\W_]*{option}", lines[-1]) is not None
    if "\\boxed" in text or re.search(rf'(?i)"(?:{label})"', text):
        return True
    return re.fullmatch(rf"(?i)[\W_]*{option}[\W_]*", text) is not None


def read_labelled(path: Path = FIRST_SET, logs: Path | None = None) -> Iterator[LabelledReply]:
    """Yield the labelled replies of a set; published ones only with the logs that hold them."""
    texts = {sha(reply["reply"]): reply for reply in published_replies(logs)} if logs else {}
    for line in path.read_text("utf-8").splitlines():
        reply = json.loads(line)
        if "sha256" in reply:
            if reply["sha256"] not in texts:
                continue
            reply = {**texts[reply["sha256"]], **reply}
        label, second = reply["first"], reply.get("second", reply["first"])
        reply["truth"] = label if label == second else None
        yield reply


Reader = Callable[[LabelledReply], int | None]


def rates(replies: list[LabelledReply], reader: Reader = read) -> dict[str, float]:
    """Return the shares of clear replies refused and misread, and of unclear ones taken."""
    clear = [reply for reply in replies if reply["truth"] is not None]
    unclear = [reply for reply in replies if reply["truth"] is None]
    verdicts = [(reply["truth"], reader(reply)) for reply in clear]
    return {
        "clear": len(clear),
        "refused": sum(verdict is None for _, verdict in verdicts) / max(1, len(clear)),
        "misread": sum(verdict not in (None, truth) for truth, verdict in verdicts)
        / max(1, len(clear)),
        "unclear": len(unclear),
        "taken": sum(reader(reply) is not None for reply in unclear) / max(1, len(unclear)),
    }


def kappa(replies: list[LabelledReply]) -> tuple[float, float]:
    """Return the raw agreement of the two labels, and Cohen's kappa of clear against unclear."""
    agreement = sum(reply["first"] == reply["second"] for reply in replies) / len(replies)
    pairs = Counter((reply["first"] is None, reply["second"] is None) for reply in replies)
    n = len(replies)
    agreed = (pairs[True, True] + pairs[False, False]) / n
    first = (pairs[True, True] + pairs[True, False]) / n
    second = (pairs[True, True] + pairs[False, True]) / n
    chance = first * second + (1 - first) * (1 - second)
    return agreement, (agreed - chance) / (1 - chance)


def print_rates(name: str, replies: list[LabelledReply]) -> None:
    """Print both errors on one set."""
    formatted = rates([reply for reply in replies if is_formatted(reply)])
    all_rates = rates(replies)
    print(
        f"{name} | {formatted['clear']} | {formatted['refused']:.1%} | {all_rates['clear']} | "
        f"{all_rates['refused']:.1%} | {all_rates['misread']:.1%} | {all_rates['unclear']} | "
        f"{all_rates['taken']:.1%}"
    )


def measure(logs: Path | None) -> None:
    """Print both errors by set."""
    print(
        f"rule {VERSION}: set | formatted | refused | clear | refused | misread | unclear | taken"
    )
    groups = {path.name.partition("_")[0]: list(read_labelled(path, logs)) for path in SETS}
    groups["all"] = [reply for replies in groups.values() for reply in replies]
    for name, replies in groups.items():
        print_rates(name, replies)
    if logs:
        print_rates("published", [reply for reply in groups["all"] if "sha256" in reply])


def print_wrong(logs: Path | None) -> None:
    """Print every wrong verdict on the labelled replies."""
    for path in SETS:
        for reply in read_labelled(path, logs):
            if (verdict := read(reply)) != reply["truth"]:
                names = reply["names"] or [reply["low"], reply["high"]]
                kind = "formatted" if is_formatted(reply) else ""
                print(reply["truth"], verdict, names, kind, repr(reply["reply"][-300:]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--logs", type=Path, help="a folder with the published logs")
    parser.add_argument("--wrong", action="store_true", help="print every wrong verdict")
    options = parser.parse_args()
    (print_wrong if options.wrong else measure)(options.logs)


if __name__ == "__main__":
    main()
