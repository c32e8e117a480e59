"""The probes of Hanabi: the seat's own cards, the next seat's knowledge, the next move."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.probe import At, Kind, Point, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.hanabi.belief import counted_by, is_known_playable
from sally.games.hanabi.rules import SEATS, Hanabi
from sally.games.hanabi.state import State, View, last_touched

HanabiReplay = Trajectory[State, int, View]
PERCENT = 100.0


# --- one's own cards ------------------------------------------------------------------------------


def _each_own_slot(name: str, kind: Kind) -> Probe:
    def asks(game: Hanabi, view: View, seat: Seat) -> tuple[Question, ...]:
        cards = tuple(range(game.highest))
        return tuple(Question(name, kind, cards, str(slot + 1)) for slot in range(view.slots))

    def truth(replay: HanabiReplay, place: At) -> int:
        state, me = replay.state(place.turn), replay.rules(Hanabi).seats.index(place.seat)
        return state.hands[me][int(place.about) - 1]

    question_text = "how likely each card is to be" if kind == "odds" else "which card is"
    about = f"{question_text} one's own, slot by slot"
    return Probe(name, about, "before", kind, SEATS, asks, truth, of_mind=False)


def _which_playable(game: Hanabi, view: View, seat: Seat) -> tuple[Question, ...]:
    slots = tuple(range(1, view.slots + 1))
    return (Question("own_playable", "values", slots, low=0.0, high=PERCENT),)


def own_playable(replay: HanabiReplay, place: At) -> dict[str, float]:
    """Return 100 for each of the seat's own cards that can be played, and 0 for its other cards."""
    game, state = replay.rules(Hanabi), replay.state(place.turn)
    hand = state.hands[game.seats.index(place.seat)]
    return {str(n): PERCENT * game.is_next(state, card) for n, card in enumerate(hand, 1)}


# --- the next seat's mind -------------------------------------------------------------------------


def _about(game: Hanabi, view: View) -> str:
    """Return the name of the next seat, and that seat's slot that a hint touched last (its oldest
    slot if no hint touched any)."""
    seat = (view.me + 1) % game.players
    return f"{game.seats[seat]} {(last_touched(view, seat) or 0) + 1}"


def place_of(game: Hanabi, about: str) -> tuple[int, int]:
    """Return the seat and the slot that a question is about."""
    seat, _, slot = about.partition(" ")
    return game.seats.index(Seat(seat)), int(slot) - 1


def _which_belief(game: Hanabi, view: View, seat: Seat) -> tuple[Question, ...]:
    cards = tuple(range(game.highest))
    about = _about(game, view)
    return (Question("their_belief", "values", cards, about, low=0.0, high=PERCENT),)


def their_belief(replay: HanabiReplay, place: At) -> dict[str, float]:
    """Return the other seat's posterior over the card in question from hints and counting, in
    percent."""
    game = replay.rules(Hanabi)
    seat, slot = place_of(game, place.about)
    other_posterior = counted_by(game, replay.state(place.turn), seat)
    return {str(card): PERCENT * p for card, p in enumerate(other_posterior.odds(slot))}


def _is_it_known(game: Hanabi, view: View, seat: Seat) -> tuple[Question, ...]:
    return (Question("their_known", "choice", ("yes", "no"), _about(game, view)),)


def their_known(replay: HanabiReplay, place: At) -> str:
    """Return whether the other seat can be certain that the card can be played."""
    game, state = replay.rules(Hanabi), replay.state(place.turn)
    seat, slot = place_of(game, place.about)
    other_posterior = counted_by(game, state, seat)
    return "yes" if is_known_playable(game, state, other_posterior, slot) else "no"


# --- the next move --------------------------------------------------------------------------------


def _which_move(game: Hanabi, view: View, seat: Seat) -> tuple[Question, ...]:
    """Return the question about the next move, for seats that are not to move; hints are
    distinguished by target only, because some hints depend on hidden cards."""
    if view.mover == view.me:
        return ()
    return (Question("their_move", "choice", moves_of(game, view), game.seats[view.mover]),)


def moves_of(game: Hanabi, view: View) -> tuple[str, ...]:
    """Return the moves that may be legal for the mover, as far as a seat that is not to move can
    tell."""
    slots = range(1, len(view.ids[view.mover]) + 1)
    plays = tuple(f"play {slot}" for slot in slots)
    discards = tuple(f"discard {slot}" for slot in slots) if game.may_discard(view) else ()
    to = [s for s in range(game.players) if s != view.mover] if view.tokens else []
    return (*plays, *discards, *(f"hint {game.seats[s]}" for s in to))


def move_name(game: Hanabi, mover: int, action: int) -> str:
    """Return the name of a move as it is listed among the probe's choices."""
    if action >= 2 * game.hand_size:
        ahead, _ = game.hint_of(action)
        return f"hint {game.seats[(mover + ahead) % game.players]}"
    return f"{'play' if action >= game.hand_size else 'discard'} {action % game.hand_size + 1}"


def their_move(replay: HanabiReplay, place: At) -> str | None:
    """Return the mover's actual move; None if it forfeited."""
    game = replay.rules(Hanabi)
    action = replay.move(place.turn, Seat(place.about))
    return None if action is None else move_name(game, replay.state(place.turn).mover, action)


def _probe(
    name: str, about: str, kind: Kind, asks: object, truth: object, point: Point = "before"
) -> Probe:
    of_mind = name.startswith("their")
    return Probe(name, about, point, kind, SEATS, asks, truth, of_mind)  # type: ignore[arg-type]


PROBES = (
    _each_own_slot("own_card", "choice"),
    _each_own_slot("own_card_odds", "odds"),
    _probe(
        "own_playable",
        "how likely each of one's own cards can be played",
        "values",
        _which_playable,
        own_playable,
    ),
    _probe(
        "their_belief",
        "how likely each card is, to the next seat, to be the card a hint touched last",
        "values",
        _which_belief,
        their_belief,
    ),
    _probe(
        "their_known",
        "whether the next seat can be certain that this card can be played",
        "choice",
        _is_it_known,
        their_known,
    ),
    _probe(
        "their_move",
        "what the mover will do, asked of those who wait",
        "choice",
        _which_move,
        their_move,
        "start",
    ),
)
