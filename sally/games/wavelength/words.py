"""The words of Wavelength: its prompts, and the reading of replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, Whole, span
from sally.core.rules.words import read_texts
from sally.games.association.speech import WordGameWords, one_line, read_word
from sally.games.wavelength.rules import PSYCHIC, Clue, Seen, View, Wavelength

TEXTS: Mapping[str, str] = read_texts(__package__)


class WavelengthWords(WordGameWords["View"]):
    """Texts of Wavelength; only the psychic's prompt contains the target."""

    label: ClassVar[str] = "Dial"

    def __init__(self, game: Wavelength, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self._rounds = game.rounds
        bands = [self.say("band", width=width, points=points) for width, points in game.bands]
        self._bands = ", ".join(bands)

    def rules(self, seat: Seat) -> str:
        role = self.say(f"role.{seat}")
        return self.say("rules", role=role, bands=self._bands, rounds=self._rounds)

    def history(self, view: View) -> Iterator[str]:
        """Yield every finished round, preceded by the clues rejected in it."""
        for number in range(len(view.past) + 1):
            for round_index, clue, reason in view.refused:
                if round_index == number:
                    yield self.say("refused", round=number + 1, clue=one_line(clue), why=reason)
            if number < len(view.past):
                yield self._past(number, view.past[number])

    def _past(self, number: int, past_round: Seen) -> str:
        facts = {"left": past_round.left, "right": past_round.right, "target": past_round.target}
        if past_round.clue is None:
            return self.say("past.no_clue", round=number + 1, **facts)
        clue = one_line(past_round.clue)
        if past_round.dial is None:
            return self.say("past.no_dial", round=number + 1, clue=clue, **facts)
        return self.say(
            "past",
            round=number + 1,
            clue=clue,
            dial=past_round.dial,
            points=past_round.points,
            **facts,
        )

    def now(self, view: View) -> str:
        if not view.left:
            return ""
        facts: dict[str, Any] = {"round": len(view.past) + 1, "left": view.left}
        facts |= {"right": view.right, "clue": one_line(view.clue or "")}
        if view.seat == PSYCHIC:
            key = "now.psychic" if view.clue is None else "now.psychic.said"
            return self.say(key, target=view.target, **facts)
        return self.say("now.guesser.waits" if view.clue is None else "now.guesser", **facts)

    def refusal(self, view: View, action: Any) -> str:
        if not isinstance(action, Clue):
            return ""
        return self.game.objection(view.left, view.right, action.word) or ""

    def format(self, view: View, options: Options[Any]) -> str:
        if view.seat == PSYCHIC:
            return self.say("format.psychic")
        return super().format(view, options)

    def scale(self, options: Options[Any]) -> Whole | None:
        return span(options)

    def read(self, reply: str, view: View, options: Options[Any]) -> Any:
        if view.seat == PSYCHIC:
            return read_word(reply, options, "Clue", self.say("format.psychic"))
        return super().read(reply, view, options)

    def answer(self, probe: str, value: Any) -> Any:
        return tenth_name(int(value)) if probe == "target" else value


def tenth_name(tenth: int) -> str:
    """Return the range of a tenth of the dial as text."""
    return f"{10 * tenth} to {10 * tenth + 9}" if tenth < 9 else "90 to 100"
