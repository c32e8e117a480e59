"""Questions about a hand whose answers are numbers, so that one hint can answer several at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sally.games.hanabi.bots.identities import Cards

Faces = Mapping[int, int]  # what cards are, by their number in the deck


class Question(Protocol):
    """Something to ask of a hand: how many answers there are, which is right, what it says."""

    @property
    def answers(self) -> int: ...

    def answer(self, faces: Faces) -> int: ...

    def says(self, answer: int) -> Mapping[int, Cards]:
        """What is left of each card that an answer speaks of."""


class FirstYes:
    """Which is the first of these cards that is of its kind? The last answer means none."""

    def __init__(self, items: Sequence[tuple[int, Cards]]) -> None:
        self.items = items

    @property
    def answers(self) -> int:
        return len(self.items) + 1

    def answer(self, faces: Faces) -> int:
        fits = (n for n, (id, kind) in enumerate(self.items) if kind >> faces[id] & 1)
        return next(fits, len(self.items))

    def says(self, answer: int) -> Mapping[int, Cards]:
        said = {id: ~kind for id, kind in self.items[:answer]}
        if answer < len(self.items):
            id, kind = self.items[answer]
            said[id] = kind
        return said


class WhichBlock:
    """In which of these sets of identities is this card?"""

    def __init__(self, id: int, blocks: Sequence[Cards]) -> None:
        self.id, self.blocks = id, blocks

    @property
    def answers(self) -> int:
        return len(self.blocks)

    def answer(self, faces: Faces) -> int:
        fits = (n for n, block in enumerate(self.blocks) if block >> faces[self.id] & 1)
        return next(fits, 0)  # in none of them only where a partner does not keep the convention

    def says(self, answer: int) -> Mapping[int, Cards]:
        return {self.id: self.blocks[answer]}


class Both:
    """Two questions about different cards, answered by one number."""

    def __init__(self, first: Question, second: Question) -> None:
        self.first, self.second = first, second

    @property
    def answers(self) -> int:
        return self.first.answers * self.second.answers

    def answer(self, faces: Faces) -> int:
        return self.first.answer(faces) + self.first.answers * self.second.answer(faces)

    def says(self, answer: int) -> Mapping[int, Cards]:
        second, first = divmod(answer, self.first.answers)
        return {**self.first.says(first), **self.second.says(second)}


def blocks(cards: Sequence[int], dead: Cards, most: int) -> list[Cards]:
    """Identities dealt into at most so many sets; those that cannot score share one."""
    alive = [card for card in cards if not dead >> card & 1]
    useless = sum(1 << card for card in cards if dead >> card & 1)
    room = most - bool(useless)
    dealt = [sum(1 << card for card in alive[n::room]) for n in range(min(room, len(alive)))]
    return [*([useless] if useless else []), *dealt]
