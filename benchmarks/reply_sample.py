"""Draw real replies for labelling: from the shipped runs, and from published logs.

    python benchmarks/reply_sample.py OUT --logs FOLDER    # write 600 replies without labels
    python benchmarks/reply_sample.py OUT --later 3        # the third set, or the fourth (4)

480 replies come from docs/results/bundles: 78 of each of six games (46 that were asked again when
they were played, 32 that were not), all there are of the games with few menus. 120 come from
published logs of other projects, put as replies to the question that their game asked. No reply
is drawn that the first labelled set has. `tests/core/fresh_replies.jsonl` holds the labels. The
later sets leave out all replies of earlier sets, and 1,500 that were read while version 7 was made.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import sys
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sally import store
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.strategy import PromptContext
from sally.core.registry import registry
from sally.core.rules.menu import is_finite
from sally.store.bundles import open_store

ROOT = Path(__file__).resolve().parent.parent
FIRST_SET = ROOT / "tests/core/labelled_replies.jsonl"
SEED = 3636
OWN, AGAIN, NOT_AGAIN = 480, 46, 32  # replies of our own runs; of each game, by their first verdict
PUBLISHED = {"step_game": 45, "hcss2025": 30, "pact": 20, "mindgames": 15, "gamabench": 10}
LEFT_OUT = ("toma_sw",)  # its acts have a form of their own
LONGEST = 4_000  # characters of a reply that a person is asked to label


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# --- our own runs -----------------------------------------------------------------------------


def own_replies() -> Iterator[dict[str, Any]]:
    """Return every distinct reply to a menu in the shipped bundles, with its menu."""
    keys = set()
    for path in sorted((ROOT / "docs/results/bundles").glob("*.zip")):
        with open_store(path) as (place, _):
            episodes = store.load(place).episodes
            for episode in (episodes[id] for id in sorted(episodes)):
                if episode.setup.instance.game in LEFT_OUT:
                    continue
                match = Match(
                    registry.game(episode.setup.instance.game), episode.setup, ask_nature=True
                )
                replies: list[dict[str, Any]] = []
                Driver(match).replay(
                    episode,
                    ask_again=lambda turn, event, to=replies: to.extend(replies_of(turn, event)),
                )
                for reply in replies:
                    if (key := (reply["game"], reply["kind"], reply["reply"])) not in keys:
                        keys.add(key)
                        yield reply | {"run": path.name.removesuffix(".sally.zip")}


def replies_of(turn: Any, event: Any) -> Iterator[dict[str, Any]]:
    """Return the replies of one decision to a menu or to a scale of whole numbers."""
    question, words, prompt = turn.question, turn.context.words, PromptContext(turn)
    if not event.calls or (question is not None and question.kind != "choice"):
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


# --- published logs ---------------------------------------------------------------------------


def published_replies(folder: Path) -> Iterator[dict[str, Any]]:
    """Return the distinct replies of published logs under a folder, each with its menu."""
    for source, replies in (
        ("step_game", _step_game(folder)),
        ("hcss2025", _hcss2025(folder)),
        ("pact", _pact(folder)),
        ("mindgames", _mindgames(folder)),
        ("gamabench", _gamabench(folder)),
    ):
        texts = set()
        for text, menu in replies:
            if 0 < len(text) <= LONGEST and text not in texts:
                texts.add(text)
                yield {"game": source, "kind": "move", "numbered": False, "names": [], "low": None,
                       "high": None, "reply": text} | menu  # fmt: skip


Asked = tuple[str, dict[str, Any]]


def _menu(label: str, names: tuple[str, ...], question: str) -> dict[str, Any]:
    return {"label": label, "names": list(names), "question": question}


def _scale(label: str, low: int, high: int, question: str) -> dict[str, Any]:
    return {"label": label, "low": low, "high": high, "question": question}


def _lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Return the JSON lines of a project's logs, packed or unpacked."""
    for path in sorted(folder.rglob(f"{name}/logs.tar.gz")):
        with tarfile.open(path) as packed:
            for member in sorted(packed.getmembers(), key=lambda info: info.name):
                if member.name.endswith(".jsonl") and (file := packed.extractfile(member)):
                    yield from map(json.loads, file.read().decode().splitlines())
    for path in sorted(folder.rglob(f"{name}/**/*.jsonl")):
        yield from map(json.loads, path.read_text("utf-8").splitlines())


def _step_game(folder: Path) -> Iterator[Asked]:
    menu = _menu("Move", ("1", "3", "5"), "Do you move 1, 3 or 5 steps?")
    for event in _lines(folder, "step_game"):
        text = event.get("message", "") if event.get("type") == "conversation" else ""
        if any(step in text for step in "135"):
            yield text, menu


def _pact(folder: Path) -> Iterator[Asked]:
    scale = _scale("Price", 0, 120, "What price do you bid or ask in this round, from 0 to 120?")
    for event in _lines(folder, "pact"):
        if event.get("type") == "conversation":
            text = str(event.get("message") or "")
            if any(sign.isdigit() for sign in text):
                yield text, scale


def _hcss2025(folder: Path) -> Iterator[Asked]:
    menu = _menu("Move", ("C", "D"), "Do you cooperate (C) or defect (D) in this round?")
    models = ("Claude", "Mistral", "Gemini", "GPT")
    for path in sorted(folder.rglob("hcss2025/**/evolutionary_*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for n in "12":
                    if row[f"agent{n}"].startswith(models):
                        yield row[f"agent{n}_reasoning"] or "", menu


def _mindgames(folder: Path) -> Iterator[Asked]:
    menu = _menu(
        "Choice",
        ("proposal A", "proposal B", "proposal C"),
        "Which proposal should the other player choose?",
    )
    for path in sorted(folder.rglob("mindgames/**/*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            games = json.loads(line)
            for game in games if isinstance(games, list) else [games]:
                for message in game.get("messages") or ():
                    text = message.get("content") or ""
                    if message.get("role") == "persuader" and "proposal" in text.lower():
                        yield text, menu


def _gamabench(folder: Path) -> Iterator[Asked]:
    for path in sorted(folder.rglob("gamabench/**/*.json")):
        for text in _model_texts(json.loads(path.read_text("utf-8"))):
            try:
                (field,) = json.loads(text)
            except (ValueError, TypeError):
                continue
            label = field.replace("_", " ").capitalize()
            if '"go"' in text or '"stay"' in text:
                yield text, _menu(label, ("go", "stay"), "Do you go to the bar or stay?")
            elif "dish" in field:
                yield text, _menu(label, ("costly", "cheap"), "Which dish, costly or cheap?")
            else:
                yield text, _scale(label, 0, 200, "Which number, from 0 to 200?")


def _model_texts(record: Any) -> Iterator[str]:
    """Return what a model said anywhere in a record."""
    if isinstance(record, dict):
        if record.get("role") == "assistant" and isinstance(record.get("content"), str):
            yield record["content"]
        if record.get("role") == "model" and record.get("parts"):
            yield str(record["parts"][0])
        record = list(record.values())
    if isinstance(record, list):
        for part in record:
            yield from _model_texts(part)


# --- the draw ---------------------------------------------------------------------------------


def draw(logs: Path) -> Iterator[dict[str, Any]]:
    """Return the sample in an order that says nothing about its sources."""
    chance = random.Random(SEED)
    first = [json.loads(line) for line in FIRST_SET.read_text("utf-8").splitlines()]
    used = {reply.get("sha256") or sha(reply["reply"]) for reply in first}
    by_game = defaultdict[str, list[dict[str, Any]]](list)
    for reply in own_replies():
        if sha(reply["reply"]) not in used and len(reply["reply"]) <= LONGEST:
            by_game[reply["game"]].append(reply)
    sample, rare = list[dict[str, Any]](), list[dict[str, Any]]()
    for _, replies in sorted(by_game.items()):
        asked_again = [reply for reply in replies if reply["asked_again"]]
        settled = [reply for reply in replies if not reply["asked_again"]]
        if len(asked_again) < AGAIN:
            rare += replies
            continue
        sample += chance.sample(asked_again, AGAIN) + chance.sample(settled, NOT_AGAIN)
    sample += chance.sample(rare, OWN - len(sample))
    published = defaultdict[str, list[dict[str, Any]]](list)
    for reply in published_replies(logs):
        if sha(reply["reply"]) not in used:
            published[reply["game"]].append(reply)
    for source, count in PUBLISHED.items():
        sample += [reply | {"published": True} for reply in chance.sample(published[source], count)]
    chance.shuffle(sample)
    held_out = half(reply["game"] for reply in sample)
    for n, reply in enumerate(sample):
        fields = {key: value for key, value in reply.items() if key != "asked_again"}
        yield {"n": n, **fields, "tuned_on": reply["game"] not in held_out}


KNOWN = ("ibs", "ipd", "rps", "toma_ag", "toma_mg", "toma_po")
NEW = (
    "bargaining",
    "cipher",
    "step_race",
    "hide_and_seek",
)  # without replies in the first two sets
# By set: its seed, its new games, and how many replies, asked again or not, of a new or known game.
LATER = {3: (3637, NEW, (46, 32), (18, 12)), 4: (3638, NEW[:3], (36, 24), (30, 20))}


def draw_later(number: int) -> Iterator[dict[str, Any]]:
    """Return the third or the fourth sample in an order that says nothing about its sources."""
    seed, new, of_new, of_known = LATER[number]
    pool = [reply | {"sha": sha(reply["reply"])} for reply in own_replies()]
    early = _hashes("labelled_replies") | _hashes("fresh_replies")
    short = [r for r in pool if r["game"] in KNOWN and r["sha"] not in early]
    short = [r for r in short if len(r["reply"]) <= 1_500]
    random.Random(7).shuffle(short)
    read_before = {r["sha"] for r in short[:1_500]}  # read while version 7 was written
    excluded = early | read_before | (_hashes("third_replies") if number == 4 else set())
    remaining = [r for r in pool if r["sha"] not in excluded and len(r["reply"]) <= LONGEST]
    chance, sample = random.Random(seed), list[dict[str, Any]]()
    for game in (*new, *KNOWN):
        for is_asked_again, count in zip(
            (True, False), of_new if game in new else of_known, strict=True
        ):
            candidates = [
                r for r in remaining if r["game"] == game and r["asked_again"] == is_asked_again
            ]
            sample += chance.sample(candidates, min(count, len(candidates)))
    chance.shuffle(sample)
    yield from sample


def _hashes(name: str) -> set[str]:
    """Return the hashes of the replies of a labelled set."""
    rows = map(json.loads, (ROOT / f"tests/core/{name}.jsonl").read_text("utf-8").splitlines())
    return {row.get("sha256") or sha(row["reply"]) for row in rows}


def half(games: Iterable[str]) -> frozenset[str]:
    """Return every second game of a shuffle, whose replies nobody may look at while tuning."""
    names = sorted(set(games))
    random.Random(SEED).shuffle(names)
    return frozenset(names[1::2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="where the replies are written")
    parser.add_argument("--logs", type=Path, help="a folder with published logs")
    parser.add_argument("--later", type=int, choices=LATER, help="draw the third or fourth set")
    options = parser.parse_args()
    if not options.later and not options.logs:
        parser.error("the fresh set needs --logs FOLDER")
    sample = draw_later(options.later) if options.later else draw(options.logs)
    lines = [json.dumps(reply, ensure_ascii=False) + "\n" for reply in sample]
    options.out.write_text("".join(lines), "utf-8")
    print(f"{len(lines)} replies")


if __name__ == "__main__":
    main()
