"""An episode on the page, turn by turn: what each seat saw, was asked, said and did, and the truth.

Pages grow by appending, so what a seat saw is shown as it saw it: the rules once, then of each
turn only what is new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from sally.analysis.rows import judged, label, played
from sally.core.desk import Desk
from sally.core.errors import BadInput
from sally.core.game import NATURE, Seat
from sally.core.log import (
    Call,
    Censored,
    Ended,
    Episode,
    Event,
    Forfeited,
    Moved,
    Reported,
    Skipped,
    Told,
)
from sally.core.menu import is_finite
from sally.core.metric import Played
from sally.core.model import Context
from sally.core.player import AskId
from sally.core.probe import Question
from sally.output.page.html import Html, anchor, joined, tag
from sally.output.page.pieces import (
    asked_of,
    drawn,
    end_line,
    fold,
    form_text,
    is_natures,
    line,
    look_ups,
    memory_line,
    message_text,
    plain_text,
    quoted,
    reply_line,
    shared_beginning,
    tries_badge,
)
from sally.output.plots import number
from sally.output.transcript import pack_of

Prompts = Mapping[AskId, Sequence[Context]]
MOST_ODDS = 6  # of a long list of odds, the likeliest
PromptsOf = Callable[[Episode], Prompts]  # raises BadInput where they cannot be rendered again


def transcript_of(episode: Episode, prompts_of: PromptsOf | None = None) -> Html:
    """The whole episode, closed until somebody opens it."""
    setup = episode.setup
    table = ", ".join(f"{seat} = {label(who)}" for seat, who in setup.lineup.items())
    summary = tag(
        "summary",
        tag("b", setup.instance.game),
        f" {setup.instance.id}, {table} ",
        ending(episode),
    )
    facts = tag(
        "p",
        f"cell {episode.cell}, " if episode.cell else "",
        f"repeat {setup.repeat}, seed {setup.seed}, rules version {setup.version}, episode ",
        tag("code", episode.id),
        class_="quiet",
    )
    try:
        told = _Teller(played(episode), prompts_of).told()
    except BadInput as why:
        told = tag("p", f"Not shown: {why}", class_="warn")
    return tag(
        "details", summary, facts, told, class_="episode", id=anchor("e-", episode.id), dir="ltr"
    )


def ending(episode: Episode) -> Html:
    """How an episode ended, in a few words."""
    end = episode.end
    if isinstance(end, Censored):
        return tag("span", f"no result: {end.cause}", class_="badge bad")
    paid = ", ".join(f"{seat} {number(pay)}" for seat, pay in end.payoffs.items())
    lost = sum(isinstance(e, Forfeited) for e in episode.events)
    forfeits = tag("span", f"{lost} forfeited", class_="badge bad") if lost else None
    return joined(tag("span", paid, class_="badge"), forfeits)


class _Teller:
    """Tells one episode; remembers what each seat has been shown already."""

    def __init__(self, whole: Played, prompts_of: PromptsOf | None) -> None:
        self._whole, self._replay = whole, whole.replay
        game, setup = whole.replay.game, whole.episode.setup
        self._seats = (*game.seats, *(h for h in game.helpers if h != NATURE))
        self._desks = {
            seat: Desk(whole.spec, game, seat, setup.seed, pack_of(setup.lineup.get(seat)))
            for seat in (*game.seats, *game.helpers)
        }
        self._lines = dict.fromkeys(self._desks, 0)
        self._last: dict[tuple[str, str], str] = {}  # what was said last under a heading
        self._prompt: dict[str, str] = {}  # the last prompt of a seat
        self._prompts: Prompts = {}
        self._no_prompts = ""
        if prompts_of is not None and any(getattr(e, "calls", ()) for e in whole.episode.events):
            try:
                self._prompts = prompts_of(whole.episode)
            except BadInput as why:
                self._no_prompts = str(why)

    def told(self) -> Html:
        """All of it."""
        turns = [list(t) for _, t in groupby(self._whole.episode.events, key=lambda e: e.turn)]
        stages = [list(t) for _, t in groupby(turns, key=is_natures)]
        told = [part for stage in stages for part in self._stage(stage)]
        warning = tag("p", self._no_prompts, class_="warn") if self._no_prompts else None
        return joined(
            warning,
            self._problem(),
            [self._rules(seat) for seat in self._replay.game.seats],
            tag("ol", told, class_="turns"),
            self._afterwards(),
        )

    def _problem(self) -> Html | None:
        params = self._whole.episode.setup.instance.params
        if not params:
            return None
        said = msgspec.json.format(msgspec.json.encode(params), indent=2).decode()
        return fold("The problem, as data", said)

    def _rules(self, seat: Seat) -> Html | None:
        try:
            rules = self._desks[seat].words.rules(seat)
        except LookupError:
            return None
        return fold(f"The rules, as {seat} reads them", rules)

    # --- turns ------------------------------------------------------------------------------------

    def _stage(self, turns: Sequence[Sequence[Event]]) -> Iterator[Html]:
        """Turns of the seats one by one; what nature draws turn after turn stands together."""
        if not is_natures(turns[0]):
            yield from (self._turn(events[0].turn, events) for events in turns)
            return
        first, last = turns[0][0].turn, turns[-1][0].turn
        head = f"Turn {first}" if first == last else f"Turns {first} to {last}"
        draws = [drawn(event.action) for t in turns for event in t if isinstance(event, Moved)]
        yield tag("li", tag("h4", head), quoted("nature", "\n".join(draws)))

    def _turn(self, turn: int, events: Sequence[Event]) -> Html:
        played_by: dict[str, list[Event]] = {}
        end: Html | None = None
        for event in events:
            if isinstance(event, Ended | Censored):
                end = end_line(event)
            else:
                played_by.setdefault(event.seat, []).append(event)
        seats = [self._seat(turn, Seat(seat), mine) for seat, mine in played_by.items()]
        body = tag("div", seats, class_="seats") if seats else None
        head = tag("h4", f"Turn {turn}") if seats else None
        return tag("li", head, body, end)

    def _seat(self, turn: int, seat: Seat, events: Sequence[Event]) -> Html:
        who = self._whole.episode.setup.lineup.get(seat)
        place = self._seats.index(seat) if seat in self._seats else 0
        head = tag("h5", seat, tag("small", f" {label(who)}") if who else None)
        saw = quoted("sees", self._new(turn, seat)) if turn < len(self._replay.states) else None
        told = [part for event in events for part in self._event(turn, seat, event)]
        return tag("section", head, saw, told, class_=f"seat hue{place % 7}")

    def _new(self, turn: int, seat: Seat) -> str:
        """What has come onto a seat's page since it was shown last, and where it stands now."""
        words, view = self._desks[seat].words, self._replay.view(turn, seat)
        new = list(words.lines(view, self._lines[seat], words.forms[0]))
        self._lines[seat] += len(new)
        now = words.now(view)
        return "\n".join([*new, now] if now else new)

    def _event(self, turn: int, seat: Seat, event: Event) -> Iterator[Html | None]:
        if isinstance(event, Moved):
            yield self._asked_to_move(turn, seat)
            yield from look_ups(event.looked)
            yield reply_line(event.reply)
            yield line("does", tag("b", self._named_move(event)), tries_badge(event.tries))
            yield memory_line(event.memory)
        elif isinstance(event, Forfeited):
            yield self._asked_to_move(turn, seat)
            yield from look_ups(event.looked)
            yield reply_line(event.reply)
            lost = tag("span", f"forfeits: {event.reason}", class_="badge bad")
            yield line("", lost, tries_badge(event.tries))
            yield memory_line(event.memory)
        elif isinstance(event, Reported):
            yield from self._reported(turn, seat, event)
        elif isinstance(event, Told):
            yield line(
                "is told", f"{asked_of(event)}: ", tag("b", self._answer(event, event.value))
            )
        elif isinstance(event, Skipped):
            yield line("not asked", f"{asked_of(event)}: {event.reason}")
        yield self._calls(turn, seat, event)

    def _asked_to_move(self, turn: int, seat: Seat) -> Html | None:
        """What is wanted and how to answer, where that differs from the turn before."""
        if turn >= len(self._replay.states):
            return None
        words, view = self._desks[seat].words, self._replay.view(turn, seat)
        options = self._replay.game.options(self._replay.state(turn), seat)
        try:
            parts = [words.question(view, options)]
            if is_finite(options):
                parts.append(words.format(view, options))
        except LookupError:
            return None
        return self._once(seat, "is asked", "\n".join(parts))

    def _once(self, seat: str, heading: str, said: str, key: str = "") -> Html | None:
        """A text under its heading, unless it stood there the last time."""
        if self._last.get((seat, heading + key)) == said:
            return None
        self._last[seat, heading + key] = said
        return quoted(heading, said)

    def _named_move(self, event: Moved) -> str:
        seat = Seat(event.seat)
        made = self._replay.move(event.turn, seat)
        move = event.action if made is None else made
        name = self._desks[seat].words.name(move)
        is_form = isinstance(move, msgspec.Struct) and name == str(move)
        return form_text(move) if is_form else name

    # --- asides -----------------------------------------------------------------------------------

    def _reported(self, turn: int, seat: Seat, event: Reported) -> Iterator[Html | None]:
        if event.source == "probe":
            question = self._question(event)
            if question is not None:
                words, view = self._desks[seat].words, self._replay.view(turn, seat)
                own = self._whole.spec.probe(event.probe).point == "after"
                pending = self._replay.move(turn, seat) if own else None
                try:
                    said = words.aside(question, view, pending)
                    yield self._once(seat, "is asked aside", said, event.probe + event.about)
                except LookupError:
                    pass
            yield reply_line(event.reply)
        answer = tag("b", self._answer(event, event.value))
        head = "says aside" if event.source == "probe" else "foresees"
        yield line(
            head, f"{asked_of(event)}: ", answer, self._odds(event), self._truth(event),
            tries_badge(event.tries),
        )  # fmt: skip

    def _question(self, event: Reported | Told) -> Question | None:
        if event.turn >= len(self._replay.states):
            return None
        probe, seat = self._whole.spec.probe(event.probe), Seat(event.seat)
        asked = probe.asks(self._replay.game, self._replay.view(event.turn, seat), seat)
        return next((q for q in asked if q.about == event.about), None)

    def _answer(self, event: Reported | Told, value: Any) -> str:
        if value is None:
            return "nothing readable" if isinstance(event, Reported) else "nothing: not known"
        question, words = self._question(event), self._desks[Seat(event.seat)].words
        if question is None:
            return plain_text(value)
        if isinstance(value, dict):
            names = {str(c): words.choice_name(question, c) for c in question.choices}
            return plain_text({names.get(item, item): worth for item, worth in value.items()})
        return words.choice_name(question, value)

    def _odds(self, event: Reported) -> str | None:
        question = self._question(event)
        if event.odds is None or question is None:
            return None
        words = self._desks[Seat(event.seat)].words
        named = sorted(zip(event.odds, question.choices, strict=False), key=lambda pair: -pair[0])
        shares = [f"{words.choice_name(question, c)} {100 * p:.0f} %" for p, c in named]
        rest = f", {len(shares) - MOST_ODDS} more" if len(shares) > MOST_ODDS else ""
        return f" ({', '.join(shares[:MOST_ODDS])}{rest})"

    def _truth(self, event: Reported) -> Html:
        question, truth = judged(self._whole, event)
        if truth is None or question is None:
            return tag("span", "not scored", class_="badge quiet")
        if isinstance(truth, dict):
            return tag("span", f"true: {self._answer(event, truth)}", class_="badge")
        if event.value == truth:
            return tag("span", "right", class_="badge good")
        return tag("span", f"true: {self._answer(event, truth)}", class_="badge bad")

    # --- calls ------------------------------------------------------------------------------------

    def _calls(self, turn: int, seat: Seat, event: Event) -> Html | None:
        calls: tuple[Call, ...] = getattr(event, "calls", ())
        if not calls:
            return None
        about = (event.probe, event.about) if isinstance(event, Reported) else ("", "")
        shown = self._prompts.get((turn, str(seat), *about), ())
        reply = getattr(event, "reply", "")
        each = [
            self._call(seat, call, shown[n] if n < len(shown) else None, reply)
            for n, call in enumerate(calls)
        ]
        spent = sum(c.usage.get("input", 0) + c.usage.get("output", 0) for c in calls)
        head = f"{len(calls)} call{'s' if len(calls) > 1 else ''}, {spent:,} tokens"
        return tag("details", tag("summary", head), each, class_="calls")

    def _call(self, seat: Seat, call: Call, shown: Context | None, reply: str) -> Html:
        facts = [call.purpose, f"finish {call.finish}", f"prompt {call.prompt}"]
        if call.failure:
            facts.append(f"failed: {call.failure} {call.detail}")
        if call.scores:
            facts.append("log-probabilities " + ", ".join(f"{s:.3f}" for s in call.scores))
        other = call.reply if call.reply != reply else ""
        return joined(
            tag("p", ", ".join(facts), class_="quiet"),
            self._shown(seat, shown),
            quoted("thinks", call.reasoning),
            quoted("replies", other),
            *(quoted("calls a tool", plain_text(tool)) for tool in call.tools),
        )

    def _shown(self, seat: Seat, shown: Context | None) -> Html | None:
        """A prompt, but for the beginning that it shares with the last one of its seat."""
        if shown is None:
            return None
        prompt = shown if isinstance(shown, str) else "\n".join(map(message_text, shown))
        same = shared_beginning(prompt, self._prompt.get(seat, ""))
        self._prompt[seat] = prompt
        if same == len(prompt):
            return tag("p", "is shown the same prompt again", class_="quiet")
        if not same:
            return quoted("is shown", str(prompt))
        return quoted(f"is shown: the first {same:,} signs of the last prompt, then", prompt[same:])

    def _afterwards(self) -> Html | None:
        """What came onto the pages with the last turn."""
        last = len(self._replay.states) - 1
        if not last:
            return None
        parts = []
        for seat in self._replay.game.seats:
            words, view = self._desks[seat].words, self._replay.view(last, seat)
            new = "\n".join(words.lines(view, self._lines[seat], words.forms[0]))
            parts.append(quoted(f"{seat} reads at the end", new))
        return tag("div", parts, class_="after")
