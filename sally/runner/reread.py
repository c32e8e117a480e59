"""Read stored replies again by other rules for reading replies, to see where the readings differ
and how results change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from sally.core.errors import Unreadable
from sally.core.log.events import (
    Call,
    Episode,
    Event,
    Forfeited,
    Moved,
    PlayerSpec,
    Reported,
)
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import replay_episode
from sally.core.match.player import Turn
from sally.core.match.strategy import PromptContext, StrategyResult
from sally.core.prompt.page_layout import read_harness
from sally.core.registry import packs, registry
from sally.core.reply.plain_text import without_thoughts
from sally.core.reply.reader import VERSION
from sally.core.rules.metric import judge_report
from sally.core.rules.probe import ProbeReport, as_logged
from sally.players.language import LANGUAGE

Rule = Callable[[PromptContext, Turn, StrategyResult], Any]
STORED = "as stored"


class RereadReply(msgspec.Struct, frozen=True):
    """A stored reply and the answer that each rule reads in it; an unreadable answer is None."""

    episode: str
    game: str
    turn: int
    seat: str
    kind: str  # "move", or the name of the probe
    reply: str
    by_rule: Mapping[str, Any]  # what was stored comes first
    first: Any = None  # the first option of the menu; None if there is no menu
    truth: Any = None  # of a probe; None if it is not scored


def read_as_installed(prompt: PromptContext, turn: Turn, result: StrategyResult) -> Any:
    """Read a reply by the rule of the installed version of Sally."""
    answer = prompt.read(result)
    return as_logged(answer.value) if isinstance(answer, ProbeReport) else answer


def first_named(prompt: PromptContext, turn: Turn, result: StrategyResult) -> Any:
    """Read a reply as the option that it names first. If there are no options with names, read it
    as the installed version of Sally does."""
    question, names = turn.question, prompt.names
    by_name = question is None or (question.kind == "choice" and question.scale is None)
    if not names or not by_name or turn.context.words.scale(turn.options) is not None:
        return read_as_installed(prompt, turn, result)
    text = without_thoughts(result.text)
    hits = [re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names]
    named_places = sorted((hit.start(), place) for place, hit in enumerate(hits) if hit)
    if not named_places:
        raise Unreadable("No option is named.")
    return (question.choices if question else turn.options)[named_places[0][1]]


RULES: Mapping[str, Rule] = {
    f"rule {VERSION}": read_as_installed,
    "first option named": first_named,
}


class StoredAnswer(NamedTuple):
    """A logged move, forfeit or probe answer, and the context in which its replies are read."""

    turn: Turn
    event: Moved | Forfeited | Reported
    prompt: PromptContext
    reads_cut: bool  # whether the strategy reads replies that were cut off

    @property
    def value(self) -> Any:
        """The logged move or report as plain data; None for a forfeit or an unreadable report."""
        return as_plain(decision_in(self.event))

    def result(self, reply: str, call: Call) -> StrategyResult:
        """Return the reply to a logged call as the strategy returned it."""
        schema = json.loads(call.settings.get("schema", '{"properties": []}'))
        labels_before = tuple(schema["properties"])[:-1]  # the answer is the last field
        is_cut = call.finish == "length" and not self.reads_cut
        return StrategyResult(reply, cut=is_cut, before=labels_before)


def decision_in(answer: Any) -> Any:
    """Return the move or report of an answer or event; None if there is none."""
    return getattr(answer, "action", getattr(answer, "value", None))


def stored_answer(turn: Turn, event: Event, player: PlayerSpec) -> StoredAnswer | None:
    """Return a logged answer of a language model that was read from a reply; None for choices by
    scoring, failed calls and other players."""
    if player.player != LANGUAGE or not isinstance(event, Moved | Forfeited | Reported):
        return None
    if not event.calls or event.calls[-1].scores or event.calls[-1].failure:
        return None
    pack = player.params.get("pack", "")
    prompt = PromptContext(
        turn,
        context=turn.context.in_words(pack, packs.find(pack).texts if pack else {}),
        harness=read_harness(player.params.get("harness")),
        as_schema=(player.params.get("settings") or {}).get("format") == "schema",
    )
    reads_cut = bool((player.params.get("with_") or {}).get("read_cut"))
    return StoredAnswer(turn, event, prompt, reads_cut)


def answers(episode: Episode) -> list[StoredAnswer]:
    """Return the answers of language models that were read from replies."""
    stored: list[StoredAnswer] = []

    def collect(turn: Turn, event: Event) -> None:
        player = episode.setup.lineup.get(turn.seat)
        if player is not None and (answer := stored_answer(turn, event, player)) is not None:
            stored.append(answer)

    spec = registry.game(episode.setup.instance.game)
    match: Match = Match(spec, episode.setup, ask_nature=True)
    Driver(match).replay(episode, ask_again=collect)
    return stored


def readings(episode: Episode, rules: Mapping[str, Rule] = RULES) -> Iterator[RereadReply]:
    """Read again, by each rule, the replies from which an episode's moves and probe answers came.

    Answers that were not read from a language model's reply, such as choices by scoring, are left
    out.
    """
    spec = registry.game(episode.setup.instance.game)
    trajectory = replay_episode(spec, episode)  # raises if the game has another version now
    for answer in answers(episode):
        turn, event, prompt, _ = answer
        result, question = answer.result(event.reply, event.calls[-1]), turn.question
        judged_report = (
            judge_report(spec, trajectory, event) if isinstance(event, Reported) else None
        )
        menu = question.choices if question else turn.options
        yield RereadReply(
            episode.id,
            spec.name,
            turn.number,
            turn.seat,
            question.probe if question else "move",
            event.reply,
            {
                STORED: answer.value,
                **{n: _read(rule, prompt, turn, result) for n, rule in rules.items()},
            },
            as_plain(menu[0]) if prompt.names and question is None else None,
            as_plain(judged_report.truth) if judged_report else None,
        )


def _read(rule: Rule, prompt: PromptContext, turn: Turn, result: StrategyResult) -> Any:
    try:
        return as_plain(rule(prompt, turn, result))
    except Unreadable:
        return None


def as_plain(value: Any) -> Any:
    """Return a value as a log stores it."""
    return msgspec.json.decode(msgspec.json.encode(value))


def sensitivity(replies: Iterable[RereadReply]) -> list[dict[str, Any]]:
    """Return, by game, question and rule, the share of readable replies and a figure from them.

    For moves, the figure is the share of readable replies that choose the menu's first option; for
    probes, it is the share of readable replies that are right. It is None without a menu or a
    truth.
    """
    groups: dict[tuple[str, str], list[RereadReply]] = {}
    for reply in replies:
        groups.setdefault((reply.game, reply.kind), []).append(reply)
    rows = []
    for (game, kind), group in sorted(groups.items()):
        for rule in group[0].by_rule:
            read = [(reply, value) for reply in group if (value := reply.by_rule[rule]) is not None]
            aims = [
                value == (reply.first if kind == "move" else reply.truth)
                for reply, value in read
                if (reply.first if kind == "move" else reply.truth) is not None
            ]
            rows.append(
                {
                    "game": game,
                    "asked": kind,
                    "rule": rule,
                    "replies": len(group),
                    "read": len(read) / len(group),
                    "figure": sum(aims) / len(aims) if aims else None,
                    "differ": sum(e.by_rule[rule] != e.by_rule[STORED] for e in group),
                }
            )
    return rows
