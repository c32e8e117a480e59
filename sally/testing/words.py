"""Checks of a game's texts: prompts grow only by appending, and answers in words can be read
back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from sally.core.errors import Unreadable
from sally.core.match.player import Decision, Turn
from sally.core.match.seat_context import SeatContext
from sally.core.match.strategy import PromptContext, Run, StrategyResult
from sally.core.prompt.model import Message, Reply, Scores
from sally.core.registry import packs, registry
from sally.core.rules.chance import Stream
from sally.core.rules.menu import example, fill_form, is_finite
from sally.core.rules.probe import Question, problem
from sally.core.rules.words import slots
from sally.models.stub import even
from sally.players.calls import NOT_READ
from sally.players.language import strategy_named
from sally.testing.bench import Bench, Broken, asked_in_turn, match_of, must

PLAIN = "qa"  # the strategy that shows a page and takes the reply
PAGES, FEWER = 12, 3  # pages of a seat and a kind, in the game's own words and otherwise


def pages_grow_by_appending(bench: Bench) -> None:
    """Check that the rules and history in each prompt begin with those of the seat's previous
    prompt."""
    for arms, injections in bench.conditions:
        pages: dict[Any, str] = {}
        match = match_of(bench.table(2, arms=arms, injections=injections))
        for turn, _ in asked_in_turn(match):
            for form in turn.context.words.forms:
                opening = str(turn.context.opening(turn.view, form))
                grown = opening.startswith(pages.get((turn.seat, form), ""))
                must(grown, f"a history line changed for {turn.seat}")
                pages[turn.seat, form] = opening
                if not any(i.keep for i in injections):
                    fresh = SeatContext(bench.spec, match.game, turn.seat, 0)
                    is_same = str(fresh.opening(turn.view, form)) == opening
                    must(is_same, f"read as a whole, the history of {turn.seat} differs")


def a_page_says_what_is_wanted_and_how(bench: Bench) -> None:
    """Check that rules, question and format exist, and that the format names every answer once."""
    for turn, _ in asked_in_turn(match_of(bench.table(arms=bench.all_probes))):
        words, view = turn.context.words, turn.view
        must(bool(words.rules(turn.seat).strip()), f"no rules for {turn.seat}")
        if turn.question is None:
            must(bool(words.question(view, turn.options).strip()), f"{turn.seat} gets no question")
            format_text = words.format(view, turn.options)
            names = words.menu(turn.options) if is_finite(turn.options) else ()
            scale = words.scale(turn.options)
        else:
            question_text = words.aside(turn.question, view, turn.pending)
            must(bool(question_text.strip()), f"{turn.question.probe} has no words")
            format_text = words.aside_format(turn.question)
            names = tuple(words.choice_name(turn.question, c) for c in turn.question.choices)
            scale = turn.question.scale
        expected_names = names if scale is None else (str(scale.low), str(scale.high))
        must(
            all(n in format_text for n in expected_names),
            f"the format lacks one of {expected_names}: {format_text}",
        )
        must(len(set(names)) == len(names), f"two answers have the same name: {names}")


def people_can_read_every_option(bench: Bench) -> None:
    """Check that no one chooses between the bare indices 0 and 1; boxes may have numbers."""
    for turn, _ in asked_in_turn(match_of(bench.table(arms=bench.all_probes))):
        words, question = turn.context.words, turn.question
        if turn.seat in bench.game.helpers or not (question or is_finite(turn.options)):
            continue
        if question is None:
            values, names = tuple(turn.options), words.menu(turn.options)
            is_index = words.scale(turn.options) is None and values == (0, 1)
            cure = "`name` of the words names an action, `scale` makes it a number"
        else:
            values = question.choices
            names = tuple(words.choice_name(question, choice) for choice in values)
            is_index = question.scale is None and values == (0, 1)
            cure = (
                f"`choice_name` of the words names an answer to {question.probe}; `name` names "
                "an action, and answers that are actions"
            )
        must(
            not is_index or names != tuple(map(str, values)),
            f"people in seat {turn.seat} would choose among {'  '.join(names)}; {cure}",
        )


def every_text_has_plain_slots(bench: Bench) -> None:
    """Check that braces in texts hold plain names, so that a words pack can replace any
    sentence."""
    for key, text in bench.spec.texts.items():
        must(bool(key.strip()), "a text has an empty key")
        slots(text, key)


def words_read_what_words_name(bench: Bench, seed: int) -> None:
    """Check that every action is read back from its name."""
    for turn, _ in asked_in_turn(match_of(bench.table(seed))):
        words, options = turn.context.words, turn.options
        if is_finite(options):
            for option in options:
                for reply in (f"{words.label}: {words.name(option)}", words.name(option)):
                    read = words.read(reply, turn.view, options)
                    must(read == option, f"{reply!r} is read as {read!r}, not as {option!r}")
        else:
            for n in range(5):
                action = example(options, Stream(seed, n))
                reply_text = json.dumps(msgspec.to_builtins(action))
                read = words.read(f"I choose:\n{reply_text}", turn.view, options)
                must(read == action, f"{reply_text} is read as {read!r}")
                must(
                    fill_form(options, json.loads(reply_text)) == action,
                    f"{reply_text} is filled in differently",
                )


def words_refuse_what_is_unclear(bench: Bench) -> None:
    """Check that a reply with no answer, two answers or a negated answer is rejected with a hint at
    a valid one."""
    for turn, _ in asked_in_turn(match_of(bench.table())):
        if turn.seat in bench.sent_back:
            continue
        for reply in _unclear(turn):
            refusal = _why_refused(turn, reply)
            must(refusal is not None, f"{reply!r} was read as an answer of {turn.seat}")
            must(len(refusal or "") > 10, f"the rejection of {reply!r} gives no hint: {refusal!r}")


def _unclear(turn: Turn) -> list[str]:
    words, options = turn.context.words, turn.options
    unclear = ["", " \n", "I would rather not. " * 50, "{", "{}", "[]", '{"kind": "?"}', "null"]
    if not is_finite(options):
        reply_text = json.dumps(msgspec.to_builtins(example(options, Stream(1))))
        return [
            *unclear,
            reply_text[:-1],
            f"{reply_text} or {reply_text}",
            reply_text.replace(":", ";"),
        ]
    names = words.menu(options)
    if len(names) > 1:
        unclear += [" or ".join(names), f"{words.label}: {' or '.join(names)}"]
    return unclear + [f"{words.label}: not {n}" for n in names]


def _why_refused(turn: Turn, reply: str) -> str | None:
    try:
        turn.context.words.read(reply, turn.view, turn.options)
    except Unreadable as error:
        return str(error)
    return None


# --- pages as a model gets them -----------------------------------------------------------------


class _Speaker:
    """A model that always gives the same reply and assigns every candidate the same probability."""

    def __init__(self) -> None:
        self.reply = ""

    async def say(self, purpose: str, messages: Sequence[Message], **settings: Any) -> Reply:
        must(bool(str(messages[-1].text).strip()), "a page is empty")
        return Reply(self.reply)

    async def score(self, purpose: str, context: Any, candidates: Sequence[str]) -> Scores:
        return Scores(tuple(candidates), tuple(even("", name) for name in candidates))


def a_model_can_answer_every_page(bench: Bench) -> None:
    """Check that the prompts of moves, probes and retries render in every words pack, and that
    their answers are read.

    The prompts are those of the plain strategy.
    """
    worded = {name: pack.texts for name, pack in packs.for_game(bench.spec.name).items()}
    act, answer = strategy_named(PLAIN).make()
    texts, speaker = strategy_named(PLAIN).texts, _Speaker()
    for pack, sentences in {"": {}, **worded}.items():
        words = f" in the words {pack}" if pack else ""
        for turn, answer_given in _sample_asks(bench, PAGES if not pack else FEWER):
            context = turn.context.in_words(pack, sentences)
            ask_name = "a move" if turn.question is None else turn.question.probe
            subject = f"{ask_name} of {turn.seat}{words}"
            prompt = PromptContext(turn, texts, context)
            speaker.reply = _in_words(turn, answer_given, context, prompt)
            result = _outcome(act if turn.question is None else answer, prompt, speaker, subject)
            try:
                read = prompt.read(result)
            except Unreadable as error:
                raise Broken(f"{subject}: {speaker.reply!r} cannot be read: {error}") from None
            if turn.question is None:
                must(read == answer_given, f"{subject}: {speaker.reply!r} is read as {read!r}")
            prompt.say("retry", why=NOT_READ)


def every_strategy_can_ask(bench: Bench) -> None:
    """Check that every strategy that fits the game renders its prompts, even if a reply is
    unreadable."""
    for name, strategy in registry.entries("strategies").items():
        if "told" in strategy.needs:
            continue  # needs an injection; what is told is checked for every probe
        act, answer = strategy.make()
        speaker = _Speaker()
        for turn, answer_given in _sample_asks(bench, FEWER):
            if {"finite", "scoring"} & strategy.needs and not is_finite(turn.options):
                continue
            if turn.question is not None and turn.question.kind != "choice":
                continue
            prompt = PromptContext(turn, strategy.texts)
            speaker.reply = _in_words(turn, answer_given, turn.context, prompt)
            run = act if turn.question is None else answer
            with suppress(Unreadable):
                _outcome(run, prompt, speaker, f"{name}, {turn.seat}")


def _sample_asks(bench: Bench, limit: int) -> Iterator[tuple[Turn, Any]]:
    """Yield the asks of a match with the answers of bots, at most `limit` per seat and kind."""
    counts = Counter[tuple[str, str]]()
    for turn, answer in asked_in_turn(match_of(bench.table(arms=bench.all_probes))):
        kind = turn.seat, turn.question.probe if turn.question is not None else ""
        counts[kind] += 1
        if counts[kind] <= limit:
            yield turn, answer.action if isinstance(answer, Decision) else answer


def _outcome(run: Run, prompt: PromptContext, speaker: _Speaker, subject: str) -> StrategyResult:
    going: Any = run(prompt, speaker)
    try:
        going.send(None)  # the speaker never waits, so no event loop is needed
    except StopIteration as end:
        done: StrategyResult = end.value
        return done
    except KeyError as error:
        raise Broken(
            f"{subject}: a text has the placeholder {error}, for which no value is given"
        ) from None
    raise Broken(f"{subject}: the strategy waits for something other than the model")


def _in_words(turn: Turn, answer: Any, context: SeatContext, prompt: PromptContext) -> str:
    """Return an answer as a model would give it."""
    if turn.question is None:
        if is_finite(turn.options):
            return f"{prompt.label}: {context.words.name(answer)}"
        return f"I choose:\n{json.dumps(msgspec.to_builtins(answer))}"
    return _report_in_words(turn.question, prompt.names, prompt.label)


def _report_in_words(question: Question, names: Sequence[str], label: str) -> str:
    """Return an answer to a probe as a model would give it: the last choice, even odds, or the
    highest values."""
    share = 100 / len(names)
    return {
        "choice": f"{label}: {names[-1]}",
        "odds": "Odds: " + ", ".join(f"{n} {share:.4f}%" for n in names),
        "values": "\n".join(f"{n}: {question.high:g}" for n in names),
    }[question.kind]


def reports_are_read_and_unclear_ones_refused(bench: Bench) -> None:
    """Check that an answer to a probe is read as intended, and that an unclear answer is
    rejected."""
    for turn, _ in asked_in_turn(match_of(bench.table(arms=bench.all_probes))):
        question, words = turn.question, turn.context.words
        if question is None:
            continue
        names = [words.choice_name(question, c) for c in question.choices]
        reply = _report_in_words(question, names, words.label)
        report = words.read_report(reply, question)
        must((wrong := problem(question, report)) is None, f"{reply!r} is not an answer: {wrong}")
        if question.kind == "choice":
            must(report.value == question.choices[-1], f"{reply!r} is read as {report.value!r}")
        for unclear in ("", "Who knows?", "Odds: 5 or 6", f"{words.label}: {' and '.join(names)}"):
            try:
                words.read_report(unclear, question)
            except Unreadable:
                continue
            must(False, f"{unclear!r} was read as an answer to {question.probe}")
