"""Both errors of the reply reader on real replies, and how figures depend on the reader.

    python benchmarks/reply_reader.py                 # error rates on the labelled replies
    python benchmarks/reply_reader.py --logs FOLDER   # also the published ones, from a checkout
    python benchmarks/reply_reader.py --lists         # what the old adversarial lists cost
    python benchmarks/reply_reader.py --draw OUT      # draw the sample again, without labels

`tests/core/labelled_replies.jsonl` holds 600 replies, drawn by `--draw` with a fixed seed: 480 of
our own runs (docs/results/bundles), half of them replies that the reader of that time (version 4)
had asked again, and 120 messages of published Step Game logs, put as replies to "Do you move 1, 3
or 5 steps?". Each was labelled twice, in two shuffles, without the verdict of any reader: with the
option that a careful person would book, or as unclear (null). Where the two labels differ, the
reply counts as unclear. Published replies are stored as hash and label only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.reader_v4 import reading as version_4
from sally import store
from sally.core.errors import Unreadable
from sally.core.match.engine import Match
from sally.core.match.playback import rerun
from sally.core.prompt.strategy import PromptContext
from sally.core.registry import registry
from sally.core.reply import reading as version_5
from sally.core.rules.menu import is_finite
from sally.output.files.bundle_reader import opened

ROOT = Path(__file__).resolve().parent.parent
LABELLED = ROOT / "tests/core/labelled_replies.jsonl"
OWN, PUBLISHED, SEED = 480, 120, 36
STEPS = ("1", "3", "5")
LEFT_OUT = ("toma_sw",)  # its acts have a form of their own


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
    places = [(text.find(name), n) for n, name in enumerate(reply["names"])]
    found = sorted(at for at in places if at[0] >= 0)
    return found[0][1] if found else None


def labelled(logs: Path | None = None) -> Iterator[dict[str, Any]]:
    """Return the labelled replies; published ones only with the logs that hold them."""
    texts = {sha(text): text for text in messages(logs)} if logs else {}
    for line in LABELLED.read_text("utf-8").splitlines():
        reply = json.loads(line)
        if "sha256" in reply:
            if reply["sha256"] not in texts:
                continue
            reply |= {"reply": texts[reply["sha256"]], "names": STEPS, "label": "Move"}
        reply["truth"] = reply["first"] if reply["first"] == reply["second"] else None
        yield reply


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# --- drawing --------------------------------------------------------------------------------


def own_replies() -> Iterator[dict[str, Any]]:
    """Return every distinct reply to a menu in the shipped bundles, with its menu."""
    seen = set()
    for path in sorted((ROOT / "docs/results/bundles").glob("*.zip")):
        with opened(path) as (place, _):
            episodes = store.load(place).episodes
            for episode in (episodes[id] for id in sorted(episodes)):
                if episode.setup.instance.game in LEFT_OUT:
                    continue
                match = Match(
                    registry.game(episode.setup.instance.game), episode.setup, ask_nature=True
                )
                for turn, event in rerun(match, episode):
                    for reply in _replies(turn, event):
                        if (key := (reply["game"], reply["kind"], reply["reply"])) not in seen:
                            seen.add(key)
                            yield reply


def _replies(turn: Any, event: Any) -> Iterator[dict[str, Any]]:
    question, words, prompt = turn.question, turn.context.words, PromptContext(turn)
    if event is None or not event.calls or (question is not None and question.kind != "choice"):
        return
    finite = is_finite(turn.options)
    scale = question.scale if question else words.scale(turn.options) if finite else None
    names = [] if scale else list(prompt.names)
    if not names and not scale:
        return
    answers = [c for c in event.calls if c.purpose in ("move", "probe") and c.reply.strip()]
    for call in answers:
        yield {
            "game": turn.context.spec.name,
            "kind": question.probe if question else "move",
            "label": prompt.label,
            "names": names,
            "low": scale.low if scale else None,
            "high": scale.high if scale else None,
            "numbered": type(words).__module__.startswith("sally.games.toma"),
            "question": prompt.question.split("\n")[-1],
            "reply": call.reply,
            "asked_again": call is not answers[-1] or type(event).__name__ == "Forfeited",
        }


def messages(folder: Path) -> list[str]:
    """Return the messages of published Step Game logs that name a step."""
    found = set()
    for path in sorted(folder.rglob("game_*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            event = json.loads(line)
            text = event.get("message", "") if event.get("type") == "conversation" else ""
            if 0 < len(text) <= 400 and any(step in text for step in STEPS):
                found.add(text)
    return sorted(found)


def draw(out: Path, logs: Path) -> None:
    """Write the sample without labels."""
    chance, own = random.Random(SEED), list(own_replies())
    hard = [reply for reply in own if reply["asked_again"]]
    plain = [reply for reply in own if not reply["asked_again"]]
    drawn = chance.sample(hard, OWN // 2) + chance.sample(plain, OWN // 2)
    drawn += [{"published": text} for text in chance.sample(messages(logs), PUBLISHED)]
    out.write_text("".join(json.dumps(reply) + "\n" for reply in drawn), "utf-8")
    print(f"{len(drawn)} of {len(own)} own and {len(messages(logs))} published replies")


# --- measuring ------------------------------------------------------------------------------


def rates(replies: list[dict[str, Any]], reader: Any) -> dict[str, float]:
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


def lists() -> None:
    """Print what the old adversarial lists, written against version 4, cost each version."""
    for number, version in ((4, version_4), (5, version_5)):
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=Path, help="a folder with published Step Game logs")
    parser.add_argument("--draw", type=Path, help="write the unlabelled sample here")
    parser.add_argument("--lists", action="store_true", help="the old adversarial lists")
    parser.add_argument("--wrong", action="store_true", help="print every wrong verdict")
    given = parser.parse_args()
    if given.draw:
        draw(given.draw, given.logs)
        return
    if given.lists:
        lists()
        return
    replies = list(labelled(given.logs))
    same, k = kappa(replies)
    print(f"{len(replies)} replies; labels agree on {same:.1%}, kappa {k:.2f}")
    readers = {"version 5": read, "version 4": lambda r: read(r, version_4)}
    for name, reader in {**readers, "first option named": first_named}.items():
        r = rates(replies, reader)
        print(
            f"{name}: of {r['clear']} clear {r['refused']:.1%} refused, {r['misread']:.1%} "
            f"misread; of {r['unclear']} unclear {r['taken']:.1%} taken"
        )
    if given.wrong:
        for reply in replies:
            if (got := read(reply)) != reply["truth"]:
                shown = reply.get("reply", "")
                print(reply["truth"], got, list(reply["names"]), repr(shown[-300:]))


if __name__ == "__main__":
    main()
