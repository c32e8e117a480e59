"""Scripted players of MindGames: planning persuaders, a rule-based reader of messages, and a target
whose answers follow exactly from its preferences and knowledge."""

from __future__ import annotations

from collections.abc import Callable

from sally.core.errors import BadInput
from sally.core.match.partner import Answerer, Partner, Script, by_name
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport
from sally.games.mindgames import planners
from sally.games.mindgames.claims import Claims, Names, claims
from sally.games.mindgames.planners import PersuaderKnowledge
from sally.games.mindgames.reader import read
from sally.games.mindgames.replies import in_json, in_sentences, in_words, known_cells
from sally.games.mindgames.rules import (
    MESSAGES,
    PERSUADER,
    READER,
    TARGET,
    Action,
    MindGame,
    Say,
    View,
)
from sally.games.mindgames.target import ranking
from sally.parts.importers import recorded_partner

MindTurn = Turn[Action, View]
Planner = Callable[[PersuaderKnowledge, Names], Claims]
SOURCE = "our planners for moore2025"


# --- what a persuader knows -----------------------------------------------------------------------


def knowledge(view: View) -> PersuaderKnowledge:
    """Return the knowledge of a persuader with perfect recall, from the information it was given
    and the answers so far.

    An answer about all three attributes of a proposal omits the unknown ones, so the remaining
    cells count as unknown once everything has been asked about.
    """
    brief = view.brief
    assert brief.goal is not None
    width = len(brief.utilities[0])
    likes = dict(enumerate(brief.likes)) if brief.likes is not None else {}
    target_cells = None if brief.known is None else frozenset(brief.known)
    for exchange in view.story:
        if exchange.answer is None:
            continue
        likes |= dict(exchange.answer.motivation)
        heard = known_cells(exchange.answer)
        if target_cells is not None:
            target_cells |= heard
        elif len(exchange.answer.motivation) == width:  # our planners ask for both at once
            target_cells = heard
    return PersuaderKnowledge(
        utilities=tuple(tuple(int(u or 0) for u in row) for row in brief.utilities),
        goal=brief.goal,
        likes=tuple(likes[a] for a in range(width)) if len(likes) == width else None,
        known_cells=target_cells,
        turn=view.sent,
    )


def _message(game: MindGame, plan: Claims) -> Say:
    return Say(in_json(plan) if game.discrete else in_sentences(plan, game.names))


def _row_by_row(persuader: PersuaderKnowledge, names: Names) -> Claims:
    """Disclose everything, one proposal per message, because nine effects do not fit into one
    message."""
    row = [cell for cell in persuader.cells if cell[0] == persuader.turn]
    return planners.disclose(persuader, row, names) if row else Claims()


def _silent(persuader: PersuaderKnowledge, names: Names) -> Claims:
    """Disclose nothing."""
    return Claims()


def _others_only(persuader: PersuaderKnowledge, names: Names) -> Claims:
    """Disclose everything about the proposals other than the goal, one proposal per message."""
    rows = [row for row in range(len(persuader.utilities)) if row != persuader.goal]
    about = [
        cell for cell in persuader.cells if cell[0] in rows[persuader.turn : persuader.turn + 1]
    ]
    return planners.disclose(persuader, about, names)


def _signs(sign: int) -> Planner:
    """Return a planner that discloses every effect of one sign, one proposal per message."""

    def plan(persuader: PersuaderKnowledge, names: Names) -> Claims:
        row = [
            (r, c)
            for r, c in persuader.cells
            if r == persuader.turn and persuader.utilities[r][c] == sign
        ]
        return planners.disclose(persuader, row, names)

    return plan


def _ask_only(persuader: PersuaderKnowledge, names: Names) -> Claims:
    """Ask about the target's likes, knowledge and preferred proposal, and disclose nothing."""
    questions = planners.ask_everything(names)
    return claims((), questions.motivational, questions.informational, names.proposals)


def _random(game: MindGame, seat: Seat, n: int = MESSAGES) -> Script:
    """Return a persuader that discloses one uniformly drawn cell in each of the first `n` messages.

    Cells are drawn with replacement. In the seat of a free target, the player chooses a proposal at
    random; in a game with notes, a note.
    """
    if game.notes or (seat == TARGET and game.target == "free"):
        return lambda turn: turn.draws.pick(turn.options)
    _only(PERSUADER, seat, "random")
    if not isinstance(n, int) or n < 0:
        raise BadInput(f"n must be a whole number of at least 0, not {n!r}")

    def write(turn: MindTurn) -> Action:
        persuader = knowledge(turn.view)
        cells = [turn.draws.pick(persuader.cells)] if turn.view.sent < n else []
        return _message(game, planners.disclose(persuader, cells, game.names))

    return write


# --- what a persuader answers to questions about the target --------------------------------------


def _expects(game: MindGame, seat: Seat) -> Answerer:
    """Return an answerer that predicts the target from the persuader's information and the target's
    replies; unknown values count as 0."""

    def report(turn: MindTurn) -> ProbeReport:
        assert turn.question is not None
        persuader = knowledge(turn.view)
        likes = persuader.likes or (0,) * len(game.names.attributes)
        known_cells = (
            frozenset(persuader.cells) if persuader.known_cells is None else persuader.known_cells
        )
        match turn.question.probe:
            case "target_likes":
                return ProbeReport({str(a): float(v) for a, v in enumerate(likes)})
            case "target_knows":
                return ProbeReport(
                    {str(n): float(c in known_cells) for n, c in enumerate(persuader.cells)}
                )
        return ProbeReport(ranking(planners.proposal_values(persuader, likes, known_cells))[0][0])

    return report


def _expects_at_random(game: MindGame, seat: Seat, n: int = MESSAGES) -> Answerer:
    """Return an answerer that predicts as `_expects`; in a game with notes it draws its answers."""
    if not game.notes:
        return _expects(game, seat)

    def report(turn: MindTurn) -> ProbeReport:
        question = turn.question
        assert question is not None
        if question.kind == "choice":
            return ProbeReport(turn.draws.pick(tuple(question.choices)))
        values = range(int(question.low), int(question.high) + 1)
        return ProbeReport({str(c): float(turn.draws.pick(values)) for c in question.choices})

    return report


# --- helpers --------------------------------------------------------------------------------------


def _rules_reader(game: MindGame, seat: Seat) -> Script:
    """Return the rule-based reader, which is also given the conversation before the message."""
    _only(READER, seat, "rules")

    def find(turn: MindTurn) -> Action:
        earlier = [
            (exchange.text, in_words(exchange.answer, game.names))
            for exchange in turn.view.story
            if exchange.answer is not None
        ]
        return read(turn.view.draft, game.names, earlier, game.problem)

    return find


def _exact(game: MindGame, seat: Seat) -> Script:
    """Return a target that gives the only answer on its menu."""
    _only(TARGET, seat, "exact")
    if game.target == "free":
        raise BadInput("the player `exact` needs a game with `target=exact`, not `target=free`")
    return lambda turn: turn.options[0]


def _only(right_seat: Seat, seat: Seat, name: str) -> None:
    if seat != right_seat:
        raise BadInput(f"{name} can play only in seat {right_seat!r}")


def _persuader(name: str, about: str, planner: Planner) -> Partner:
    def make(game: MindGame, seat: Seat) -> Script:
        _only(PERSUADER, seat, name)
        if game.notes:
            raise BadInput(f"the player {name!r} writes messages, and this game has notes")
        if name == "revealed" and game.condition != "revealed":
            raise BadInput(
                "the player `revealed` needs a game with `condition=revealed`, in which the "
                "persuader sees the target's likes and knowledge"
            )
        return lambda turn: _message(game, planner(knowledge(turn.view), game.names))

    return Partner(name, about, SOURCE, make, answers=_expects)


PARTNERS = by_name(
    _persuader(
        "revealed",
        "tells the smallest winning set in its first message",
        planners.disclose_smallest_win,
    ),
    _persuader(
        "hidden",
        "asks what the target knows and likes, then tells the smallest winning set",
        planners.hidden,
    ),
    _persuader(
        "greedy",
        "asks, then tells each turn the cell that helps its proposal most, while one helps",
        planners.greedy,
    ),
    _persuader("tell_all", "tells everything, one proposal per message", _row_by_row),
    _persuader("goal_only", "praises its own proposal and no other", planners.goal_only),
    _persuader("silent", "writes nothing of substance", _silent),
    _persuader("others_only", "tells everything but what its proposal does", _others_only),
    _persuader("increases", "tells whatever a proposal increases", _signs(1)),
    _persuader("decreases", "tells whatever a proposal decreases", _signs(-1)),
    _persuader("ask_only", "asks for everything in every message and tells nothing", _ask_only),
    Partner(
        "random",
        "tells a cell drawn at random in each of its first n messages",
        "Moore et al. 2025, appendix A.4",
        _random,
        params={"n": MESSAGES},
        answers=_expects_at_random,
    ),
    Partner(
        "rules",
        "determines by rules what a message claims",
        SOURCE,
        _rules_reader,
        helps=True,
        version=3,
    ),
    Partner(
        "exact",
        "chooses what is best as far as it knows, and answers truly",
        "Moore et al. 2025",
        _exact,
        helps=True,
    ),
    recorded_partner(name=""),
)
