"""Taboo in language: prompts, and the reading of replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sally.core.errors import join_names
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options
from sally.games.association.speech import WordGameWords, one_line, read_word
from sally.games.taboo.rules import GIVER, Hint, Tries, View

TEXTS: Mapping[str, str] = {
    "rules": "You are the {role} in a word game for two who play together. Each round has a secret "
    "word that only the giver sees, and some banned words. The giver says one word as a hint, and "
    "the guesser names a word; if it is not the secret one, the giver says another hint, up to "
    "{hints} in a round.\n"
    "Both get the same points: {most} if the word is found after the first hint, one less for "
    "every further hint, 0 if it is not found. There are {rounds} rounds with the same partner.\n"
    "A hint is one plain English word. It may not be the secret word or a banned one, nor a form "
    "of them or a compound with them.",
    "rules.cues": "Before the first round the guesser says what comes to mind first for {cues} "
    "words, and both see it.",
    "role.giver": "giver",
    "role.guesser": "guesser",
    "cue": "'{cue}' made the guesser think of \"{answer}\".",
    "cue.none": "To '{cue}' the guesser gave no answer.",
    "refused": 'In round {round} you said "{word}". It does not count: {why}',
    "try": 'Round {round}, hint {number}: "{hint}". The guesser said "{guess}".',
    "try.no_hint": "Round {round}, hint {number}: no hint was given.",
    "try.no_guess": 'Round {round}, hint {number}: "{hint}". The guesser named no word.',
    "found": "The word was '{target}'. It was found. Points: {points}.",
    "missed": "The word was '{target}'. It was not found. Points: 0.",
    "now.giver": "Round {round}, hint {number} of {hints}. The secret word is '{target}'. Banned: "
    "{banned}.",
    "now.guesser": 'Round {round}, hint {number} of {hints}: "{hint}".',
    "now.waits": "Round {round}, hint {number} of {hints}.",
    "now.cue": "Before the first round.",
    "question.giver": "Which word do you say?",
    "question.guesser": "What is the secret word?",
    "question.cue": "Which word comes to your mind first when you hear '{cue}'?",
    "format.giver": "Answer with one line of the form `Hint: <one word>`.",
    "format.guesser": "Answer with one line of the form `Guess: <one word>`.",
    "format.option": "Answer with one line of the form `Answer: <name>`, where <name> is {names}.",
    "aside.their_guess": 'You say "{hint}". Which word will the guesser name next?',
    "aside.their_guess.open": "Which word will the guesser name next?",
    "aside.will_find": 'You say "{hint}". Will the guesser find the word with it?',
    "aside.will_find.open": "Will the guesser find the word next?",
    "aside.closeness.giver": "Leave the secret word aside. How close are {pair} for the guesser, "
    "from 0 (not at all) to 100 (as close as two words can be)?",
    "aside.closeness.guesser": "How close are {pair} for you, from 0 (not at all) to 100 (as close "
    "as two words can be)?",
    "other": "another word",
    "told.truth": "You are told, reliably or not: {fact}.",
    "told.own": "You expected: {fact}.",
    "fact.their_guess": "the guesser names {value} next",
    "fact.will_find": "whether the guesser finds the word: {value}",
    "fact.closeness": "for the guesser, {pair} are close by {value} of 100",
}


class TabooWords(WordGameWords["View"]):
    """Texts of Taboo; only the giver's prompt contains the secret word."""

    def rules(self, seat: Seat) -> str:
        game = self.game
        facts = {"role": self.say(f"role.{seat}"), "hints": game.hints, "rounds": game.rounds}
        rules_text = self.say("rules", most=game.hints, **facts)
        return (
            f"{rules_text}\n{self.say('rules.cues', cues=game.cues)}" if game.cues else rules_text
        )

    def history(self, view: View) -> Iterator[str]:
        for cue, answer in view.cues:
            key = "cue.none" if answer is None else "cue"
            yield self.say(key, cue=cue, answer=one_line(answer or ""))
        for number, past_round in enumerate(view.past):
            yield from self._tries(view, number, past_round.tries)
            key = "found" if past_round.found else "missed"
            yield self.say(key, target=past_round.target, points=past_round.points)
        if not view.over:
            yield from self._tries(view, len(view.past), view.tries)
            yield from self._refusals(view, len(view.past), len(view.tries))

    def _tries(self, view: View, number: int, tries: Tries) -> Iterator[str]:
        for n, (hint, guess) in enumerate(tries):
            yield from self._refusals(view, number, n)
            key = "try.no_hint" if hint is None else "try.no_guess" if guess is None else "try"
            try_texts = {"hint": one_line(hint or ""), "guess": one_line(guess or "")}
            yield self.say(key, round=number + 1, number=n + 1, **try_texts)

    def _refusals(self, view: View, number: int, n: int) -> Iterator[str]:
        for refusal in view.refused:
            if (refusal.round, refusal.number) == (number, n):
                word = one_line(refusal.word)
                yield self.say("refused", round=number + 1, word=word, why=refusal.why)

    def refusal(self, view: View, action: Any) -> str:
        if not isinstance(action, Hint):
            return ""
        hints = tuple(hint for hint, _ in view.tries if hint)
        return self.game.objection_to(action.word, view.target, view.banned, hints) or ""

    def now(self, view: View) -> str:
        if view.over:
            return ""
        if len(view.cues) < self.game.cues:
            return self.say("now.cue")
        facts: dict[str, Any] = {"round": len(view.past) + 1, "number": len(view.tries) + 1}
        facts |= {"hints": self.game.hints}
        if view.seat == GIVER:
            banned = join_names(self.listing(view.banned), "and")
            return self.say("now.giver", target=view.target, banned=banned, **facts)
        if view.hint is None:
            return self.say("now.waits", **facts)
        return self.say("now.guesser", hint=one_line(view.hint), **facts)

    def question(self, view: View, options: Options[Any]) -> str:
        if view.cue:
            return self.say("question.cue", cue=view.cue)
        return super().question(view, options)

    def format(self, view: View, options: Options[Any]) -> str:
        return self.say(f"format.{view.seat}")

    def read(self, reply: str, view: View, options: Options[Any]) -> Any:
        label = "Hint" if view.seat == GIVER else "Guess"
        return read_word(reply, options, label, self.say(f"format.{view.seat}"))

    def answer(self, probe: str, value: Any) -> Any:
        return self.say("other") if value == "" else value
