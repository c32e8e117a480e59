"""Stored replies under the reply rule that is installed: where it reads them differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from sally.core.errors import Unreadable
from sally.core.log.events import Episode, Forfeited, Moved, Reported
from sally.core.match.engine import Match
from sally.core.match.playback import require_version, rerun
from sally.core.prompt import packs
from sally.core.prompt.page_layout import read_harness
from sally.core.prompt.strategy import PromptContext, StrategyResult
from sally.core.registry import registry
from sally.core.rules.probe import ProbeReport, as_logged
from sally.players.language import LANGUAGE


class Difference(msgspec.Struct, frozen=True):
    """A stored reply that today's rule reads differently; None stands for unreadable."""

    episode: str
    turn: int
    seat: str
    kind: str  # "move", or the name of the probe
    was: Any
    now: Any
    reply: str


def reread(episode: Episode) -> Iterator[Difference | None]:
    """Read the replies behind an episode's moves and reports again; None if nothing differs.

    Only answers that were read from a reply count: scored choices and helpers are left out.
    """
    spec = registry.game(episode.setup.instance.game)
    require_version(spec, episode)
    match: Match[Any, Any, Any] = Match(spec, episode.setup, ask_nature=True)
    for turn, event in rerun(match, episode):
        who = episode.setup.lineup.get(turn.seat)
        if (
            who is None
            or who.player != LANGUAGE
            or not isinstance(event, Moved | Forfeited | Reported)
        ):
            continue
        if not event.calls or event.calls[-1].scores or event.calls[-1].failure:
            continue
        pack = who.params.get("pack", "")
        context = turn.context.in_words(pack, packs.find(pack).texts if pack else {})
        harness = read_harness(who.params.get("harness"))
        as_schema = (who.params.get("settings") or {}).get("format") == "schema"
        said = StrategyResult(event.reply, cut=event.calls[-1].finish == "length")
        was = event.action if isinstance(event, Moved) else getattr(event, "value", None)
        try:
            now = PromptContext(turn, context=context, harness=harness, as_schema=as_schema).read(
                said
            )
            now = as_logged(now.value) if isinstance(now, ProbeReport) else now
        except Unreadable:
            now = None
        if _plain(was) == _plain(now):
            yield None
        else:
            kind = turn.question.probe if turn.question else "move"
            yield Difference(
                episode.id, turn.number, turn.seat, kind, _plain(was), _plain(now), event.reply
            )


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))
