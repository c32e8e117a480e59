"""Players to compare with: chance, the best mindless one, the reference; on the same settings.

What the episodes hold already is used; the rest is played with the same problem, chance and
company. Where very many settings differ in chance alone, a part of them stands for all. Who is
mindless stands on the game's card, who is the reference in the game itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from sally.analysis.measured import Baseline, Measured, Role, is_mind, measured
from sally.core import shelf
from sally.core.card import RANDOM, Condition
from sally.core.chance import derived_seed
from sally.core.errors import BadInput
from sally.core.log import Setup, Sitter
from sally.runner.local import play
from sally.runner.seating import resolved

TRIALS = 24  # episodes by which the best mindless player is chosen
PLAYED = 400  # settings that differ in chance alone and are played; their mean stands for the rest
Watcher = Callable[[int, int], None]  # episodes played, episodes wanted
Known = Mapping[tuple[str, bytes], Measured]  # (setting, who) -> what the episodes hold


def baselines(
    studied: Sequence[Measured], by_cell: bool = False, watch: Watcher | None = None
) -> list[Baseline]:
    """A random player, the best mindless one and the reference wherever somebody was studied."""
    named: dict[int, bytes] = {}  # few lineups, many seats
    known = {}
    for m in studied:
        if not m.censored:
            who = _sitter(m)
            known[m.setting, named.get(id(who)) or named.setdefault(id(who), _who(who))] = m
    found: list[Baseline] = []
    groups = list(_groups(studied, by_cell).values())
    for n, group in enumerate(groups, 1):
        settings = _settings(group)
        found += _all(RANDOM, "random", settings, known)
        best = best_mindless(settings)
        if best is not None:
            found += _all(best, "mindless", settings, known)
        reference = shelf.game(group[0].game).reference
        if reference and any(m.optimum is None for m in group):
            found += _all(Sitter(reference), "reference", settings, known)
        if watch:
            watch(n, len(groups))
    return found


def best_mindless(settings: Sequence[Measured]) -> Sitter | None:
    """The mindless player with the highest mean over some settings, spread over all of them.

    It is chosen under chance of its own: were it chosen by the very numbers it is then held up
    with, the luckiest of several equals would be taken for better than it is.
    """
    step = max(1, len(settings) // TRIALS)
    some = settings[::step][:TRIALS]
    tried = [_redealt(some[n % len(some)], n) for n in range(TRIALS if some else 0)]
    best: tuple[int, float] | None = None
    chosen: Sitter | None = None
    for who in mindless(tried):
        got = [b.measured.least for b in _all(who, "mindless", tried, {})]
        scores = [score for score in got if score is not None]
        # one that cannot sit everywhere is not compared with those that can
        rank = (len(scores), round(sum(scores) / len(scores), 12)) if scores else None
        if rank is not None and (best is None or rank > best):
            best, chosen = rank, who
    return chosen


def mindless(settings: Sequence[Measured]) -> list[Sitter]:
    """The players that are without a mind in each of these settings; always a random one.

    What is a shortcut in one condition of a card may be the solution in another.
    """
    found: list[Sitter] = [RANDOM] if settings else []
    for n, met in enumerate({(m.seat, _params(m)): m for m in settings}.values()):
        here = [who for c in conditions(met) for who in c.mindless]
        if n == 0:
            found += [who for i, who in enumerate(here) if who not in (RANDOM, *here[:i])]
        found = [who for who in found if who == RANDOM or who in here]
    return found


def conditions(met: Measured) -> list[Condition]:
    """The conditions of the card that a setting belongs to; those that nearly fit, if none does."""
    card = shelf.card(met.game)
    if card is None:
        return []
    every = card.of(met.game) or card.conditions
    here = [c for c in every if c.seat == met.seat] or list(every)
    params = met.setup.instance.params
    fitting = [c for c in here if any(_fits(i.params, params) for i in c.instances)]
    # a condition that says what no mind should score is meant for rules without a mind
    return [c for c in fitting if c.chance] or fitting or here


def _fits(listed: Mapping[str, Any], met: Mapping[str, Any]) -> bool:
    """Whether nothing tells two problems apart; a scenario has its level, said or not."""
    shared = listed.keys() & met.keys()
    return bool(shared or not listed) and all(listed[name] == met[name] for name in shared)


def studied_seats(found: Sequence[Measured]) -> set[str]:
    """The seats of one game whose players are studied.

    Those that were asked about others, or taken by a model or a person; else those on the card
    in which several players sat; else all on the card, or all there are.
    """
    asked = {m.seat for m in found if m.knowing.asked or is_mind(_sitter(m))}
    if asked or not found:
        return asked
    card = shelf.card(found[0].game)
    seats = {m.seat for m in found}
    named = ({c.seat for c in card.conditions} & seats if card else set()) or seats
    several = {s for s in named if len({_who(_sitter(m)) for m in found if m.seat == s}) > 1}
    return several or named


def _all(who: Sitter, role: Role, settings: Sequence[Measured], known: Known) -> list[Baseline]:
    """What one player did in each setting; nothing where it cannot sit there."""
    found, lacking, name = list[Baseline](), list[Measured](), _who(who)
    for met in settings:
        there = known.get((met.setting, name))
        if there is not None:
            found.append(Baseline(role, True, there))
        else:
            lacking.append(met)
    for met, for_others in _some(lacking):
        try:
            episode = play(resolved(_seated(met, who)), met.cell)
        except BadInput:
            continue  # not made for this seat, or somebody across cannot be called again
        found += [Baseline(role, False, m, for_others) for m in measured(episode, (met.seat,))]
    return found


def _seated(met: Measured, who: Sitter) -> Setup:
    arms = {met.seat: met.setup.arms[met.seat]} if met.seat in met.setup.arms else {}
    return msgspec.structs.replace(
        met.setup, lineup={**met.setup.lineup, met.seat: who}, arms=arms, injections=()
    )


def _redealt(met: Measured, n: int) -> Measured:
    """The setting under other chance; nobody is asked aside, since it is doing that is wanted."""
    seed = derived_seed(met.setup.seed, "mindless", n)
    setup = msgspec.structs.replace(met.setup, seed=seed, arms={})
    return msgspec.structs.replace(met, setup=setup)


def _settings(group: Sequence[Measured]) -> list[Measured]:
    """One measured seat for each setting that can be played again: no mind of its own across."""
    found: dict[str, Measured] = {}
    for m in group:
        others = (who for seat, who in m.setup.lineup.items() if seat != m.seat)
        if any(map(is_mind, others)):
            continue
        there = found.get(m.setting)
        if there is None or (m.knowing.asked and not there.knowing.asked):
            found[m.setting] = m  # asked aside, if anybody was
    return list(found.values())


def _some(settings: Sequence[Measured]) -> list[tuple[Measured, bool]]:
    """Of settings that differ in chance alone at most `PLAYED`, and whether they stand for others.

    They are spread over all of them.
    """
    kinds: dict[str, list[Measured]] = {}
    for met in settings:
        kinds.setdefault(met.alike, []).append(met)
    kept = []
    for alike in kinds.values():
        step, few = max(1, len(alike) / PLAYED), len(alike) <= PLAYED
        kept += [(alike[int(n * step)], not few) for n in range(min(len(alike), PLAYED))]
    return kept


def _groups(
    studied: Sequence[Measured], by_cell: bool
) -> dict[tuple[str, str, str], list[Measured]]:
    found: dict[tuple[str, str, str], list[Measured]] = {}
    for m in studied:
        key = (m.game, m.seat, m.cell if by_cell else "")
        found.setdefault(key, []).append(m)
    return found


def _sitter(m: Measured) -> Sitter:
    return m.setup.lineup[m.seat]


def _who(who: Sitter) -> bytes:
    return msgspec.json.encode((who.player, who.params), order="sorted")


def _params(m: Measured) -> bytes:
    return msgspec.json.encode(m.setup.instance.params, order="sorted")
