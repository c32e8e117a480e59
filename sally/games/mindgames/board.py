"""Board of MindGames: the effects of each proposal, as far as a seat knows them."""

from __future__ import annotations

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import (
    Board,
    Good,
    Hand,
    Hands,
    Limit,
    Note,
    Notes,
    Part,
    Progress,
    Reveal,
    Saying,
    Talk,
)
from sally.core.rules.replay import Trajectory
from sally.games.mindgames.rules import PERSUADER, Action, Brief, MindGame, State, View
from sally.games.mindgames.target import values

EFFECTS = {1: "+", 0: "0", -1: "−"}
LEGEND = "+ increases, − decreases, 0 no effect"
FEELS = {1: "likes", 0: "indifferent", -1: "dislikes"}


def board(context: SeatContext, view: View) -> Board:
    """Return the proposals as cards with the seat's goal; the target's mind is shown only if
    revealed."""
    game, brief = context.game, view.brief
    assert isinstance(game, MindGame)
    names = game.names
    cards = tuple(
        _card(brief, p, f"{names.noun.capitalize()} {letter}", names.attributes)
        for p, letter in enumerate(names.proposals)
    )
    parts = [
        Hands(f"What each {names.noun} does: {_legend(brief)}", cards),
        *_revealed_notes(brief, names.attributes),
    ]
    counted = view.seat == PERSUADER and not game.discrete and not game.notes
    progress = Progress(min(view.sent + 1, game.messages), game.messages, "message")
    limits = {"text": Limit(game.limit, "---")} if counted else {}
    return Board(tuple(parts), limits, progress if view.seat == PERSUADER else None)


def REVEAL(context: SeatContext, replay: Trajectory[State, Action, View]) -> Reveal:
    """Return the target's likes and what it knew, and what it chose in the end."""
    game, state = replay.rules(MindGame), replay.present
    names, puzzle, chosen = game.names, game.problem, game.current_choice(replay.present)
    brief = Brief(
        puzzle.utilities, puzzle.goal, puzzle.target_values, tuple(sorted(puzzle.visible))
    )
    cards = tuple(
        _card(brief, p, f"{names.noun.capitalize()} {letter}", names.attributes)
        for p, letter in enumerate(names.proposals)
    )
    letters = names.proposals
    first, last = letters[puzzle.initial], letters[chosen]
    moved = (
        f"chose {last}, as at the start"
        if chosen == puzzle.initial
        else (f"first wanted {first} and then chose {last}")
    )
    verdict = "as you wanted" if chosen == puzzle.goal else f"you wanted {letters[puzzle.goal]}"
    learned = sorted(state.mind.known - puzzle.visible)
    learned_text = ", ".join(f"{names.attributes[a]} of {letters[p]}" for p, a in learned)
    explanation = f"The other player {moved}; {verdict}.{_reason(game, state)}"
    hidden = (Note("What you told that the other player did not know", learned_text or "nothing"),)
    parts = (
        Hands(f"What each {names.noun} does: {_legend(brief)}", cards),
        *_revealed_notes(brief, names.attributes),
    )
    return Reveal(explanation, hidden, parts)


def _reason(game: MindGame, state: State) -> str:
    """Return why an exact target chose its proposal; "" for one that chooses freely."""
    if game.target != "exact":
        return ""
    puzzle, chosen = game.problem, game.current_choice(state)
    totals = values(game.world(state), state.mind.known)
    others = [proposal for proposal in range(len(totals)) if proposal != chosen]
    rival = max(others, key=totals.__getitem__) if chosen == puzzle.goal else puzzle.goal
    chosen_name, rival_name = (game.names.proposals[proposal] for proposal in (chosen, rival))
    verdict = (
        f"{chosen_name} suited them better than {rival_name}"
        if totals[chosen] > totals[rival]
        else f"{rival_name} suited them no better than {chosen_name}, "
        f"so they stayed with {chosen_name}"
    )
    points = f"{chosen_name} {totals[chosen]}, {rival_name} {totals[rival]}".replace("-", "−")
    return f" From what they knew, {verdict} (effects they like less those they dislike: {points})."


def _legend(brief: Brief) -> str:
    """Return what the signs on the cards mean."""
    effects = {utility for proposal in brief.utilities for utility in proposal}
    dot = "" if brief.known is None else "; ● the other player knew it at the start"
    return f"{LEGEND}{', ? not known' if None in effects else ''}{dot}"


def _card(brief: Brief, proposal: int, label: str, attributes: tuple[str, ...]) -> Hand:
    goal = brief.goal == proposal
    effects = zip(attributes, brief.utilities[proposal], strict=True)
    goods = tuple(
        Good(name, _effect(brief, proposal, n, utility))
        for n, (name, utility) in enumerate(effects)
    )
    return Hand(f"{label} (your goal)" if goal else label, goods, "goal" if goal else "")


def _effect(brief: Brief, proposal: int, attribute: int, utility: int | None) -> str:
    """Return a proposal's effect on an attribute, with a dot if the target knew the effect at the
    start."""
    if utility is None:
        return "?"
    knows = brief.known is not None and (proposal, attribute) in brief.known
    return f"● {EFFECTS[utility]}" if knows else EFFECTS[utility]


def _revealed_notes(brief: Brief, attributes: tuple[str, ...]) -> list[Notes]:
    if brief.likes is None or brief.known is None:
        return []
    likes = tuple(Note(a, FEELS[v]) for a, v in zip(attributes, brief.likes, strict=True))
    return [Notes("What the other player likes", likes)]


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a question and a reason that fits the answer."""
    sayings = (
        Saying("You", "What do you like?", mark="yours"),
        Saying("The other player", "I like safety."),
        Saying("You", "Proposal B increases safety.", mark="yours"),
    )
    return (Talk("Example: B is your proposal", sayings),)


BOARD = board
