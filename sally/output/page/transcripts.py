"""Transcripts on the page: the views, questions, answers and moves of each seat, and the truth.

Prompts grow by appending, so the rules are shown once, and each turn shows only what is new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from sally.analysis.decisions.costs import DecisionCost, costs_by_turn
from sally.core.display.scenes import Scene, Story, plain_text, tell
from sally.core.errors import BadInput
from sally.core.log.events import (
    Call,
    Censored,
    Ended,
    Episode,
    Forfeited,
    Moved,
    Reported,
    Skipped,
    Told,
    label,
)
from sally.core.match.answers import ask_of
from sally.core.prompt.model import Context
from sally.core.rules.game import NATURE
from sally.core.rules.replay import AskId
from sally.output.figures.svg import number
from sally.output.html import Html, anchor, join, tag
from sally.output.page.pieces import (
    end_line,
    fold,
    line,
    look_ups,
    memory_line,
    message_text,
    quote_block,
    reply_line,
    shared_beginning,
    tries_badge,
)

Prompts = Mapping[AskId, Sequence[Context]]
MOST_DEAR = 5  # costliest decisions listed at the top of an episode
MOST_ODDS = 6  # most likely entries shown of a long list of odds
PromptsOf = Callable[[Episode], Prompts]  # raises BadInput if they cannot be rendered again


def transcript_of(episode: Episode, prompts_of: PromptsOf | None = None) -> Html:
    """Return the transcript of an episode as a closed <details> element."""
    setup = episode.setup
    table = ", ".join(f"{seat} = {label(spec)}" for seat, spec in setup.lineup.items())
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
        body = _TranscriptRenderer(tell(episode), prompts_of).render()
    except BadInput as error:
        body = tag("p", f"Not shown: {error}", class_="warn")
    return tag(
        "details", summary, facts, body, class_="episode", id=anchor("e-", episode.id), dir="ltr"
    )


def ending(episode: Episode) -> Html:
    """Return badges with the payoffs or the cause of censoring."""
    end = episode.end
    if isinstance(end, Censored):
        return tag("span", f"no result: {end.cause}", class_="badge bad")
    paid = ", ".join(f"{seat} {number(pay)}" for seat, pay in end.payoffs.items())
    forfeit_count = sum(isinstance(e, Forfeited) for e in episode.events)
    forfeits = (
        tag("span", f"{forfeit_count} forfeited", class_="badge bad") if forfeit_count else None
    )
    return join(tag("span", paid, class_="badge"), forfeits)


class _TranscriptRenderer:
    """Renderer of one episode as a transcript; it remembers the last text under each heading."""

    def __init__(self, story: Story, prompts_of: PromptsOf | None) -> None:
        self._story = story
        self._hues: dict[str, int] = {}  # seat -> colour, in the order of the lineup
        for seat in story.episode.setup.lineup:
            self._hues[seat] = len(self._hues) % 7
        self._last: dict[tuple[str, str], str] = {}  # last text under a heading
        self._prompt: dict[str, str] = {}  # seat -> last prompt
        self._prompts: Prompts = {}
        self._no_prompts = ""
        self._costs: dict[tuple[int, str], DecisionCost] = {}
        self._no_costs = ""
        try:
            self._costs = costs_by_turn(story.episode)
        except BadInput as error:
            self._no_costs = f"Costs of decisions are not shown: {error}"
        if prompts_of is not None and any(event.calls for event in story.episode.events):
            try:
                self._prompts = prompts_of(story.episode)
            except BadInput as error:
                self._no_prompts = str(error)

    def render(self) -> Html:
        """Return the whole transcript."""
        scenes = [scene for scene in self._story.scenes if scene.event is not None]
        turns = [list(t) for _, t in groupby(scenes, key=lambda scene: scene.turn)]
        stages = [list(t) for _, t in groupby(turns, key=_is_natures)]
        turn_items = [part for stage in stages for part in self._stage(stage)]
        warning = tag("p", self._no_prompts, class_="warn") if self._no_prompts else None
        rules = [
            fold(f"The rules, as {seat} reads them", rules_text)
            for seat, rules_text in self._story.rules.items()
            if rules_text
        ]
        last_lines = [
            quote_block(f"{seat} reads at the end", "\n".join(lines))
            for seat, lines in self._story.after.items()
        ]
        unpriced = tag("p", self._no_costs, class_="warn") if self._no_costs else None
        return join(
            warning,
            unpriced,
            self._dearest(),
            self._problem(),
            rules,
            tag("ol", turn_items, class_="turns"),
            tag("div", last_lines, class_="after"),
        )

    def _dearest(self) -> Html | None:
        """Return links to the costliest decisions."""
        dear = sorted((c for c in self._costs.values() if c.loss > 0), key=lambda c: -c.loss)
        if not dear:
            return None
        links = [
            tag("a", f"turn {c.turn}, {c.seat}: {number(c.loss)}", href=f"#{self._anchor(c.turn)}")
            for c in dear[:MOST_DEAR]
        ]
        parts = [part for link in links for part in (", ", link)][1:]
        return tag("p", "Costliest decisions: ", *parts, f". By {dear[0].how}.", class_="quiet")

    def _anchor(self, turn: int) -> str:
        return anchor("t-", f"{self._story.episode.id}-{turn}")

    def _cost(self, scene: Scene) -> Html | None:
        """Return a badge with the loss of a decision and the best move."""
        cost = self._costs.get((scene.turn, scene.seat))
        if cost is None:
            return None
        if not cost.loss:
            return tag("span", "no loss", class_="badge good")
        best = f"; best: {' or '.join(cost.best)}" if cost.best else ""
        return tag("span", f"lost {number(cost.loss)}{best}", class_="badge bad")

    def _problem(self) -> Html | None:
        params = self._story.episode.setup.instance.params
        if not params:
            return None
        params_text = msgspec.json.format(msgspec.json.encode(params), indent=2).decode()
        return fold("The instance, as data", params_text)

    # --- turns ------------------------------------------------------------------------------------

    def _stage(self, turns: Sequence[Sequence[Scene]]) -> Iterator[Html]:
        """Yield turns one by one; consecutive draws of nature are merged."""
        if not _is_natures(turns[0]):
            yield from (self._turn(scenes) for scenes in turns)
            return
        first, last = turns[0][0].turn, turns[-1][0].turn
        head = f"Turn {first}" if first == last else f"Turns {first} to {last}"
        draws = [scene.answer for scenes in turns for scene in scenes]
        yield tag("li", tag("h3", head), quote_block("nature", "\n".join(draws)))

    def _turn(self, scenes: Sequence[Scene]) -> Html:
        by_seat: dict[str, list[Scene]] = {}
        end: Html | None = None
        for scene in scenes:
            if isinstance(scene.event, Ended | Censored):
                end = end_line(scene.event)
            else:
                by_seat.setdefault(scene.seat, []).append(scene)
        seats = [self._seat(seat, seat_scenes) for seat, seat_scenes in by_seat.items()]
        body = tag("div", seats, class_="seats") if seats else None
        head = tag("h3", f"Turn {scenes[0].turn}") if seats else None
        return tag("li", head, body, end, id=self._anchor(scenes[0].turn))

    def _seat(self, seat: str, scenes: Sequence[Scene]) -> Html:
        spec = self._story.episode.setup.lineup.get(seat)
        head = tag("h4", seat, tag("small", f" {label(spec)}") if spec else None)
        now = next((scene.now for scene in scenes if scene.now), "")
        lines = [line for scene in scenes for line in scene.new]
        saw = quote_block("sees", "\n".join([*lines, now] if now else lines))
        parts = [part for scene in scenes for part in self._scene(scene)]
        return tag("section", head, saw, parts, class_=f"seat hue{self._hues.get(seat, 0)}")

    def _scene(self, scene: Scene) -> Iterator[Html | None]:
        event, answer = scene.event, tag("b", scene.answer)
        match event:
            case Moved() | Forfeited():
                yield self._render_question(scene)
                yield from look_ups(event.looked)
                yield reply_line(event.reply)
                head, did = "does", answer
                if isinstance(event, Forfeited):
                    head = ""
                    did = tag("span", f"forfeits: {scene.answer}", class_="badge bad")
                yield line(head, did, tries_badge(event.tries), self._cost(scene))
                yield memory_line(event.memory)
            case Reported():
                yield self._render_question(scene)
                yield reply_line(event.reply)
                head = "says aside" if event.source == "probe" else "foresees"
                badges = (_odds(scene), _truth(scene), tries_badge(event.tries))
                yield line(head, f"{scene.probe}: ", answer, *badges)
            case Told():
                yield line("is told", f"{scene.probe}: ", answer)
            case Skipped():
                yield line("not asked", f"{scene.probe}: {scene.answer}")
        yield self._calls(scene)

    def _render_question(self, scene: Scene) -> Html | None:
        """Return the question and the answer format, unless they are the same as the last time."""
        is_menu = not scene.probe and not any(name.endswith(" ...") for name in scene.options)
        question = f"{scene.question}\n{scene.format}" if is_menu else scene.question
        key = (scene.seat, scene.probe)
        if self._last.get(key) == question:
            return None
        self._last[key] = question
        return quote_block("is asked aside" if scene.probe else "is asked", question)

    # --- calls ------------------------------------------------------------------------------------

    def _calls(self, scene: Scene) -> Html | None:
        event = scene.event
        if event is None or not event.calls:
            return None
        prompts = self._prompts.get(ask_of(event) or (0, "", "", ""), ())
        calls = [
            self._call(scene.seat, call, prompts[n] if n < len(prompts) else None, event.reply)
            for n, call in enumerate(event.calls)
        ]
        spent = sum(c.usage.get("input", 0) + c.usage.get("output", 0) for c in event.calls)
        head = f"{len(calls)} call{'s' if len(calls) > 1 else ''}, {spent:,} tokens"
        return tag("details", tag("summary", head), calls, class_="calls")

    def _call(self, seat: str, call: Call, prompt: Context | None, reply: str) -> Html:
        facts = [call.purpose, f"finish {call.finish}", f"prompt {call.prompt}"]
        if call.failure:
            facts.append(f"failed: {call.failure} {call.detail}")
        if call.scores:
            facts.append("log-probabilities " + ", ".join(f"{s:.3f}" for s in call.scores))
        other_reply = call.reply if call.reply != reply else ""
        return join(
            tag("p", ", ".join(facts), class_="quiet"),
            self._render_prompt(seat, prompt),
            quote_block("thinks", call.reasoning),
            quote_block("replies", other_reply),
            *(quote_block("calls a tool", plain_text(tool)) for tool in call.tools),
        )

    def _render_prompt(self, seat: str, context: Context | None) -> Html | None:
        """Return a prompt without the beginning that it shares with the seat's previous prompt."""
        if context is None:
            return None
        prompt = context if isinstance(context, str) else "\n".join(map(message_text, context))
        shared = shared_beginning(prompt, self._prompt.get(seat, ""))
        self._prompt[seat] = prompt
        if shared == len(prompt):
            return tag("p", "is shown the same prompt again", class_="quiet")
        if not shared:
            return quote_block("is shown", str(prompt))
        head = f"is shown: the first {shared:,} characters of the last prompt, then"
        return quote_block(head, prompt[shared:])


def _is_natures(scenes: Sequence[Scene]) -> bool:
    """Return whether only nature moved in this stage."""
    return all(scene.seat == NATURE for scene in scenes)


def _odds(scene: Scene) -> str | None:
    ordered = sorted(scene.odds, key=lambda pair: -pair[1])
    shares = [f"{name} {100 * p:.0f} %" for name, p in ordered]
    remainder = f", {len(shares) - MOST_ODDS} more" if len(shares) > MOST_ODDS else ""
    return f" ({', '.join(shares[:MOST_ODDS])}{remainder})" if shares else None


def _truth(scene: Scene) -> Html:
    if scene.truth is None:
        return tag("span", "not scored", class_="badge quiet")
    if scene.right:
        return tag("span", "right", class_="badge good")
    css_class = "badge" if scene.right is None else "badge bad"
    return tag("span", f"true: {scene.truth}", class_=css_class)
