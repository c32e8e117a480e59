"""Written policies: a small table of rules that prescribe a move after certain last moves.

The table is checked and then played. It shows which moves a player prescribes, as distinct from
what the player knows and what it plays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sally.core.errors import Unreadable, join_names
from sally.core.log.events import Moved
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.core.rules.words import Words, as_tuples, objects_in
from sally.games.repeated_games.rules import Joint, RepeatedGame, View, other_seat
from sally.games.repeated_games.words import RepeatedWords
from sally.players.policy_writer import writer

MOST_RULES, LONGEST = 50, 10
ANY = "*"


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A rule: play `then` after these last moves (the latest last; * matches any move)."""

    then: str
    theirs: tuple[str, ...] = ()
    mine: tuple[str, ...] = ()


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The first move, rules for certain histories (the first match applies), and a default move."""

    first: str
    otherwise: str
    rules: tuple[Rule, ...] = ()


Called = Mapping[Seat, Sequence[str]]  # by seat, what a page calls its moves


def read_policy(reply: str, game: RepeatedGame, seat: Seat, called: Called | None = None) -> Policy:
    """Return the policy in a reply.

    Raises: Unreadable, stating what is expected, if there is no policy or it does not fit the game.
    """
    objects = [json_object for json_object in objects_in(reply) if "first" in json_object]
    if len(objects) != 1:
        raise Unreadable('Answer with exactly one JSON object that has "first" and "otherwise".')
    return checked_policy(objects[0], game, seat, called)


def checked_policy(
    plain: Mapping[str, Any], game: RepeatedGame, seat: Seat, called: Called | None = None
) -> Policy:
    """Return the policy described by plain data, with its moves in the game's names.

    Raises: Unreadable if the policy names an unknown move or exceeds a limit.
    """
    try:
        policy = msgspec.convert(as_tuples(dict(plain)), Policy)
    except msgspec.ValidationError as error:
        raise Unreadable(f"{error}.") from None
    names = called or {s: game.names_of(s) for s in (seat, other_seat(seat))}
    own_names, other_names = names[seat], names[other_seat(seat)]
    if len(policy.rules) > MOST_RULES:
        raise Unreadable(f"Write at most {MOST_RULES} rules, not {len(policy.rules)}.")
    for rule in policy.rules:
        if max(len(rule.mine), len(rule.theirs)) > LONGEST:
            raise Unreadable(f"A rule may look back {LONGEST} rounds at most.")
        if not rule.mine and not rule.theirs:
            raise Unreadable(
                'Every rule needs "theirs" or "mine"; what always holds is "otherwise".'
            )
        _check_names(rule.mine, (*own_names, ANY))
        _check_names(rule.theirs, (*other_names, ANY))
    _check_names((policy.first, policy.otherwise, *(rule.then for rule in policy.rules)), own_names)
    own_renamed = dict(zip(own_names, game.names_of(seat), strict=True))
    return _in_names(
        policy, own_renamed, dict(zip(other_names, game.names_of(other_seat(seat)), strict=True))
    )


def _in_names(
    policy: Policy, own_renamed: Mapping[str, str], other_renamed: Mapping[str, str]
) -> Policy:
    """Return the policy with the moves renamed."""
    rules = tuple(
        Rule(
            own_renamed[rule.then],
            tuple(other_renamed.get(name, name) for name in rule.theirs),
            tuple(own_renamed.get(name, name) for name in rule.mine),
        )
        for rule in policy.rules
    )
    return Policy(own_renamed[policy.first], own_renamed[policy.otherwise], rules)


def _check_names(names: Sequence[str], known_names: Sequence[str]) -> None:
    for name in names:
        if name not in known_names:
            raise Unreadable(f"{name!r} is not one of {join_names(known_names, 'or')}.")


def move_of_policy(policy: Policy, game: RepeatedGame, seat: Seat, past: Sequence[Joint]) -> int:
    """Return the move that the policy prescribes after these rounds, each (own move, other's
    move)."""
    own_names, other_names = game.names_of(seat), game.names_of(other_seat(seat))
    move_name = policy.first
    if past:
        own_past, their = [own_names[m] for m, _ in past], [other_names[t] for _, t in past]
        fits = (r for r in policy.rules if _fits(r.mine, own_past) and _fits(r.theirs, their))
        move_name = next((rule.then for rule in fits), policy.otherwise)
    return own_names.index(move_name)


def _fits(pattern: Sequence[str], done: Sequence[str]) -> bool:
    """Return whether the latest moves match a rule; a rule longer than the history does not
    match."""
    if len(pattern) > len(done):
        return False
    last = done[len(done) - len(pattern) :]
    return all(want in (ANY, did) for want, did in zip(pattern, last, strict=True))


# --- does it play what it would prescribe? --------------------------------------------------------


def written_by(played: Played, seat: Seat) -> Policy | None:
    """Return the policy that a seat wrote in this episode; None if it wrote none."""
    game = played.replay.game
    for event in played.episode.events:
        if type(event) is not Moved or event.memory is None or event.seat != seat:
            continue
        if isinstance(event.memory, Mapping):
            plain = event.memory.get("policy")
            if isinstance(plain, Mapping) and isinstance(game, RepeatedGame):
                return checked_policy(plain, game, seat)
    return None


def _follows(played: Played, seat: Seat) -> float | None:
    """Return the share of the player's moves that agree with its own policy."""
    policy, game = written_by(played, seat), played.replay.game
    if policy is None or not isinstance(game, RepeatedGame):
        return None
    matches = []
    for turn in range(len(played.replay)):
        move: Any = played.replay.move(turn, seat)
        if move is not None:
            view: View = played.replay.view(turn, seat)
            matches.append(move == move_of_policy(policy, game, seat, view.played()))
    return sum(matches) / len(matches) if matches else None


METRICS = (
    Metric(
        name="follows_policy",
        about="share of moves prescribed by the player's own policy, written before round 1",
        measure=_follows,
        better="higher",
        bounds=(0, 1),
    ),
)


# --- a language model that writes its policy once ------------------------------------------------


class Tables(msgspec.Struct, frozen=True):
    """The interface through which a policy writer writes and follows policies for repeated
    games."""

    game: RepeatedGame
    seat: Seat

    def ask_policy(self, words: Words, view: View) -> tuple[str, ...]:
        assert isinstance(words, RepeatedWords)
        names = ", ".join(words.names_by_seat()[self.seat])
        return words.say("policy.ask"), words.say("policy.form", names=names)

    def read(self, reply: str, words: Words, view: View) -> Policy:
        assert isinstance(words, RepeatedWords)
        return read_policy(reply, self.game, self.seat, words.names_by_seat())

    def example(self, words: Words, view: View) -> str:
        assert isinstance(words, RepeatedWords)
        name = words.names_by_seat()[self.seat][0]
        return msgspec.json.encode(Policy(first=name, otherwise=name)).decode()

    def read_notes(self, plain: Mapping[str, Any]) -> Policy:
        return checked_policy(plain, self.game, self.seat)

    def prescribe_move(self, policy: Policy, view: View) -> int:
        return move_of_policy(policy, self.game, self.seat, view.played())


PLAYERS = {"policy_writer": writer("a table over the last moves", Tables)}
