"""The board of Hanabi: hands as cards with their hints; the seat's own hand is face down."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import (
    Board,
    CardAct,
    CardRow,
    Cards,
    Note,
    Notes,
    Part,
    PlayingCard,
    Reveal,
)
from sally.core.rules.replay import Trajectory
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Played, State, View
from sally.games.hanabi.words import HanabiWords

# Tones of the page for red, yellow, green, white and blue; each has a shape.
TONES = (2, 5, 3, 7, 1)


def board(context: SeatContext, view: View) -> Board:
    """Return piles, hands, discards and tokens as the seat knows them."""
    words, game = context.words, context.game
    assert isinstance(words, HanabiWords)
    assert isinstance(game, Hanabi)
    rows = (_piles(words, game, view), *_hands(words, game, view))
    return Board(
        (Cards("Piles and hands, oldest card on the left", rows), _facts(words, game, view))
    )


def REVEAL(context: SeatContext, replay: Trajectory[State, int, View]) -> Reveal:
    """Return all hands face up, the piles, and what ended the game."""
    words, game, state = context.words, replay.rules(Hanabi), replay.present
    assert isinstance(words, HanabiWords)
    view = game.observe(state, context.seat)
    hands = tuple(
        CardRow(
            f"{words.player(seat)} (you)" if seat == view.me else words.player(seat),
            tuple(_face(words, game, card) for card in hand),
            "yours" if seat == view.me else "",
        )
        for seat, hand in enumerate(state.hands)
    )
    built, maximum = sum(state.piles), game.colours * game.ranks
    if built == maximum:
        end_text = "every firework is complete"
    elif not state.lives:
        end_text = _last_mistake(words, view) + (
            ", so nothing counts" if game.score == "zero" else ""
        )
    else:
        end_text = "the deck was used up"
    explanation = f"You built {built} of {maximum} cards; {end_text}."
    cards = Cards(
        "Piles and all hands, oldest card on the left", (_piles(words, game, view), *hands)
    )
    return Reveal(explanation, parts=(cards, _facts(words, game, view, is_over=True)))


def _last_mistake(words: HanabiWords, view: View) -> str:
    """Return who lost the last life with which card."""
    mistakes = [event for event in view.past if isinstance(event, Played) and not event.scored]
    if not mistakes:
        return "the last life was lost"
    mistake = mistakes[-1]
    player = "you" if mistake.by == view.me else words.player(mistake.by)
    return (
        f"{player} played {words.card(mistake.card)}, which was not the next of its colour, and "
        "lost the last life"
    )


def _face(words: HanabiWords, game: Hanabi, card: int) -> PlayingCard:
    colour, rank = divmod(card, game.ranks)
    return PlayingCard(str(rank + 1), words.card(card), TONES[colour % len(TONES)])


def _piles(words: HanabiWords, game: Hanabi, view: View) -> CardRow:
    cards = tuple(
        PlayingCard(
            str(height) if height else "–",
            f"{words.colour(c)} pile: {height or 'empty'}",
            TONES[c % len(TONES)],
            mark="good" if height == game.ranks else "",
        )
        for c, height in enumerate(view.piles)
    )
    return CardRow("Piles", cards)


def _hands(words: HanabiWords, game: Hanabi, view: View) -> list[CardRow]:
    """Return the other hands, with their hint buttons, and the seat's own hand last."""
    order = [(view.me + ahead) % game.players for ahead in range(1, game.players)]
    rows = [_other_row(words, game, view, seat, ahead) for ahead, seat in enumerate(order, 1)]
    return [*rows, _own_row(words, game, view)]


def _other_row(words: HanabiWords, game: Hanabi, view: View, seat: int, ahead: int) -> CardRow:
    hints = {
        game.hint_of(action): words.name(action)
        for action in range(2 * game.hand_size, game.widest_menu())
    }
    cards = []
    for card, mark in zip(view.hands[seat], view.marks[seat], strict=True):
        colour, rank = divmod(card, game.ranks)
        acts = (
            CardAct(f"tell {words.colour(colour)}", hints.get((ahead, colour), "")),
            CardAct(f"tell {rank + 1}", hints.get((ahead, game.colours + rank), "")),
        )
        cards.append(
            PlayingCard(
                str(rank + 1),
                f"{words.card(card)}; {_hint_text(words, mark)}",
                TONES[colour % len(TONES)],
                _short(words, game, mark),
                acts,
            )
        )
    return CardRow(words.player(seat), tuple(cards))


def _own_row(words: HanabiWords, game: Hanabi, view: View) -> CardRow:
    cards = tuple(
        PlayingCard(
            "?",
            f"{words.say('slot', number=n + 1)}, face down; {_hint_text(words, mark)}",
            0,
            _short(words, game, mark),
            (
                CardAct("play", words.name(game.hand_size + n)),
                CardAct("discard", words.name(n)),
            ),
            "hidden",
        )
        for n, mark in enumerate(view.marks[view.me])
    )
    return CardRow(f"{words.player(view.me)} (you)", cards, "yours")


def _hint_text(words: HanabiWords, mark: int) -> str:
    hint_information = words.of_card(mark)
    return f"told: {hint_information}" if hint_information else "nothing told"


def _short(words: HanabiWords, game: Hanabi, mark: int) -> tuple[str, ...]:
    """Return the colour and rank that hints have established; values that hints have excluded
    are shown in the note."""
    colours = [c for c in range(game.colours) if mark >> c & 1]
    ranks = [r for r in range(game.ranks) if mark >> game.colours + r & 1]
    parts = [words.colour(colours[0])] if len(colours) == 1 < game.colours else []
    parts += [str(ranks[0] + 1)] if len(ranks) == 1 < game.ranks else []
    return tuple(parts)


def _facts(words: HanabiWords, game: Hanabi, view: View, is_over: bool = False) -> Notes:
    gone = [words.card(card) for card, n in enumerate(view.gone) for _ in range(n)]
    is_full = view.tokens == game.hints and not game.discard_at_full and not is_over
    full = [Note("Discard", "not possible now: all hints are there")] if is_full else []
    return Notes(
        "Table",
        (
            Note("Hints", f"{view.tokens} of {game.hints}"),
            Note("Lives", f"{view.lives} of {game.lives}", "bad" if view.lives == 1 else ""),
            Note("Deck", str(view.left)),
            Note("Discarded or wrongly played", ", ".join(gone) or "none"),
            *full,
        ),
    )


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a hint that makes another player play a card."""
    words, game = context.words, context.game
    assert isinstance(words, HanabiWords)
    assert isinstance(game, Hanabi)
    if game.ranks < 2:
        return ()
    first, hinted_card = PlayingCard("1", "", TONES[0]), PlayingCard("2", "", TONES[0], ("2",))
    other_card = PlayingCard(str(game.ranks), "", TONES[min(1, game.colours - 1)])
    name = words.player((game.seats.index(context.seat) + 1) % game.players)
    rows = (
        CardRow("A pile", (first,)),
        CardRow(f"{name} holds", (hinted_card, other_card)),
        CardRow("Then the pile", (PlayingCard("2", "", TONES[0], mark="good"),)),
    )
    return (Cards(f"Example: told “2”, {name} plays it on the pile", rows),)


BOARD = board
