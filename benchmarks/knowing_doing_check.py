"""Recompute the tables of docs/results/appendix/qwen.md from the bundles, without importing sally.

    python benchmarks/knowing_doing_check.py PAGE docs/results/bundles/knowing_doing-*.sally.zip

A second implementation, written from the definitions in the registration and the documentation:
it reads the logged events, rebuilds rounds, partners, optimal play, mindless rules and habits, and
compares every row that it prints with the rows of PAGE, character by character. Exits with 1 if a
row of the page is not reproduced, or a reproduced row is not on the page. With - as PAGE it prints
its rows.
"""

from __future__ import annotations

import json
import math
import sys
import zipfile
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import betaln
from scipy.stats import t as student

GAMES, STRATEGIES = ("rps", "ipd", "ibs"), ("lm", "social_lm")
PARTNERS = ("tit_for_tat", "cycler", "win_stay_lose_shift", "held_out")
ARMS = ("lm calibrated", "qa", "lm not asked", "lm twin", "social_lm twin", "oracle", "oracle_max")
ROUNDS = 20
PAYS = {  # game -> agent's move -> partner's move -> (agent's, partner's) payoff
    "rps": [[((0, 1, -1)[(m - p) % 3], -(0, 1, -1)[(m - p) % 3]) for p in range(3)]
            for m in range(3)],
    "ipd": [[(8, 8), (0, 10)], [(10, 0), (5, 5)]],
    "ibs": [[(10, 7), (0, 0)], [(0, 0), (7, 10)]],
}  # fmt: skip

# --- partners as machines: state -> odds of its moves, and the next state -------------------------


class Machine:
    def __init__(self, game, partner):
        self.game, self.moves = game, len(PAYS[game])
        name, params = partner["player"], partner.get("params", {})
        self.name, self.params = name, params
        pays = [PAYS[game][m][p][1] for m in range(self.moves) for p in range(self.moves)]
        self.mean = sum(pays) / len(pays)
        self.start = {
            "tit_for_tat": self.copy_move(0),
            "win_stay_lose_shift": 0,
            "policy_table": params.get("table", {}).get("start"),
            "single_action": params.get("action", 0),
        }.get(name)  # None: the bots of three moves begin at random

    def copy_move(self, other_move):
        return (other_move + 1) % 3 if self.game == "rps" else other_move

    def odds(self, state):
        if self.name == "policy_table":
            return self.params["table"]["states"][state]["odds"]
        if state is None:
            return [1 / self.moves] * self.moves
        return [float(move == state) for move in range(self.moves)]

    def next_state(self, state, own_move, other_move):
        """The next state; states of all but tables are the next move."""
        if self.name == "policy_table":
            return self.params["table"]["states"][state]["after"][own_move][other_move]
        if self.name == "single_action":
            return state
        if self.name == "tit_for_tat":
            return self.copy_move(other_move)
        won = PAYS[self.game][other_move][own_move][1]
        if self.name == "win_stay_lose_shift":
            return own_move if won >= self.mean else (own_move + 1) % self.moves
        if self.name == "previous_move_plus":
            return (own_move + 1) % 3
        assert self.name == "win_plus_lose_minus"
        return (own_move + won) % 3

    def follow(self, state, own_move, other_move):
        """The next state; a move that it never makes leaves it where it is."""
        return (
            self.next_state(state, own_move, other_move)
            if self.odds(state)[own_move] > 0
            else state
        )


@cache
def machine(game, partner_json):
    partner_machine = Machine(game, json.loads(partner_json))

    @cache
    def value(state, rounds_left):
        return max(list_values(state, rounds_left)) if rounds_left else 0.0

    def list_values(state, rounds_left):
        odds = partner_machine.odds(state)
        return [
            sum(
                p
                * (
                    PAYS[game][agent_move][partner_move][0]
                    + value(
                        partner_machine.next_state(state, partner_move, agent_move), rounds_left - 1
                    )
                )
                for partner_move, p in enumerate(odds)
                if p
            )
            for agent_move in range(partner_machine.moves)
        ]

    @cache
    def best(state, rounds_left):
        """By the other's move: the own moves that are worth most, `rounds_left` rounds before the
        end."""
        sets = []
        for partner_move in range(partner_machine.moves):
            next_states = [
                partner_machine.follow(state, partner_move, agent_move)
                for agent_move in range(partner_machine.moves)
            ]
            all_worth = [
                PAYS[game][agent_move][partner_move][0]
                + value(next_states[agent_move], rounds_left)
                for agent_move in range(partner_machine.moves)
            ]
            threshold = max(all_worth) - 1e-9
            sets.append(tuple(m for m, w in enumerate(all_worth) if w >= threshold))
        return sets

    return partner_machine, best, value(partner_machine.start, ROUNDS) / ROUNDS


# --- episodes -------------------------------------------------------------------------------------


class Episode:
    def __init__(self, record, depending=False):
        """With `depending`, moves are judged only where another prediction has other replies."""
        self.depending = depending
        setup = record["setup"]
        params, self.cell = setup["instance"]["params"], record["cell"]
        self.game, self.unit = setup["instance"]["game"], setup["instance"]["id"]
        partner = {k: v for k, v in setup["lineup"]["partner"].items() if k != "versions"}
        self.company = json.dumps(partner, sort_keys=True)
        self.mine, self.order = params["names"], params["order"]
        self.theirs = params.get("partner_names") or self.mine
        self.options = len(self.mine)
        moves, answers, forfeits_by_turn = defaultdict(dict), {}, Counter()
        for event in record["events"]:
            kind, seat = event["kind"], event.get("seat")
            if kind == "moved":
                moves[event["turn"]][seat] = event["action"]
            elif kind == "forfeited":
                moves[event["turn"]]  # the turn exists
                forfeits_by_turn[event["turn"]] += 1
                self.forfeits = getattr(self, "forfeits", 0) + (seat == "agent")
            elif kind == "reported" and seat == "agent":
                answers[event["turn"]] = event.get("value")
        self.forfeits = getattr(self, "forfeits", 0)
        partner_machine, best, self.optimum = machine(self.game, self.company)
        state, self.rounds = partner_machine.start, []
        for turn in sorted(moves):
            own_move, partner_move = moves[turn].get("agent"), moves[turn].get("partner")
            sets = best(state, ROUNDS - turn - 1)
            played = (
                own_move is not None and partner_move is not None and not forfeits_by_turn[turn]
            )
            self.rounds.append(
                (
                    turn,
                    own_move,
                    partner_move if not forfeits_by_turn[turn] else None,
                    answers.get(turn, ...),
                    sets,
                )
            )
            if played:
                state = partner_machine.follow(state, partner_move, own_move)
        paid = [PAYS[self.game][m][p][0] for _, m, p, _, _ in self.rounds if None not in (m, p)]
        self.reward = sum(paid) / ROUNDS if self.forfeits else sum(paid) / len(paid)
        self._knowing()
        self._pressing()

    def _knowing(self):
        self.scored = self.right = 0
        self.again = self.mirror = 0.0
        self.truths, last, own_last = Counter(), None, None
        even = 1 / self.options
        for _, own_move, truth, answer, _ in self.rounds:
            if answer is not ... and answer is not None and truth is not None:
                self.scored += 1
                self.right += answer == truth
                self.again += even if last is None else last == truth
                self.mirror += even if own_last is None else own_last == truth
                self.truths[truth] += 1
                last = truth
            own_last = own_last if own_move is None else own_move
        self.guess = even * self.scored

    def _pressing(self):
        """Sums over the agent's moves as keys."""
        self.judged = self.fits = self.able = self.did = self.copyable = self.copies = 0
        self.repeatable = self.repeats = 0
        self.repeated_on = self.repeated_off = 0.0
        self.presses = self.decided = 0
        self.blind = self.on = self.off = self.copied_on = self.copied_off = 0.0
        self.keys = defaultdict(lambda: [0, 0, 0])  # offered, pressed, best
        last, own_last, k = None, None, self.options
        position = {move: place for place, move in enumerate(self.order)}
        sets_name = "/".join(sorted(self.mine))
        for _, own_move, truth, answer, sets in self.rounds:
            predicted = None if answer in (..., None) else self.mine.index(self.theirs[answer])
            copied_truth = last if answer is not ... else None
            copied = None if copied_truth is None else self.mine.index(self.theirs[copied_truth])
            if answer is not ... and truth is not None:
                last = truth
            if own_move is None:
                continue
            self.presses += 1
            self.able += predicted is not None
            self.did += predicted == own_move
            self.copyable += copied is not None
            self.copies += copied == own_move
            self.repeatable += own_last is not None
            self.repeats += own_last == own_move
            best = None
            decided = len(set(sets)) > 1
            if predicted is not None and truth is not None and (decided or not self.depending):
                best = sets[answer]
                self.judged += 1
                self.fits += own_move in best
                self.blind += len(best) / k
                self.decided += decided
                for name, option in (("", predicted), ("copied_", copied), ("repeated_", own_last)):
                    hit = None if option is None else option in best
                    chance = len(best) / k
                    fits_if_followed = chance if hit is None else float(hit)
                    fits_otherwise = chance if hit is None else (len(best) - hit) / (k - 1)
                    setattr(self, f"{name}on", getattr(self, f"{name}on") + fits_if_followed)
                    setattr(self, f"{name}off", getattr(self, f"{name}off") + fits_otherwise)
            for move in range(k):
                for key in (
                    ("label", f"{self.mine[move]} of {sets_name}"),
                    ("position", f"{position[move] + 1} of {k}"),
                    ("move", f"{move + 1} of {k}"),
                ):
                    self.keys[key][0] += 1
                    self.keys[key][1] += move == own_move
                    self.keys[key][2] += best is not None and move in best
            own_last = own_move


# --- estimates ------------------------------------------------------------------------------------


def ratio(rows, bounds=None):
    """Rows of (above, below, cluster): the ratio, its interval or None, and its p against 0."""
    if not rows or not sum(b for _, b, _ in rows):
        return None, None, math.nan
    above, below = sum(a for a, _, _ in rows), sum(b for _, b, _ in rows)
    value, sums = above / below, defaultdict(float)
    for a, b, cluster in rows:
        sums[cluster] += a - value * b
    n_clusters = len(sums)
    if n_clusters < 5:
        return value, None, math.nan
    error = math.sqrt(n_clusters / (n_clusters - 1) * sum(s * s for s in sums.values())) / abs(
        below
    )
    if error <= 1e-12 * max(1.0, abs(value)):
        error = 0.0
    p = (
        (0.0 if value else 1.0)
        if not error
        else float(2 * student.sf(abs(value) / error, n_clusters - 1))
    )
    reach = float(student.ppf(0.975, n_clusters - 1))
    low, high = value - reach * error, value + reach * error
    outside = bounds and (low < bounds[0] or high > bounds[1] or (not error and value in bounds))
    if outside:
        low, high = wilson(value, error, n_clusters, reach, *bounds)
    if bounds and n_clusters < 100:
        hits, trials = defaultdict(float), defaultdict(float)
        are_counts = True
        for a, b, cluster in rows:
            hit = (a - bounds[0] * b) / (bounds[1] - bounds[0])
            are_counts &= abs(hit - round(hit)) < 1e-9 and b == round(b) and -1e-9 < hit < b + 1e-9
            hits[cluster] += hit
            trials[cluster] += b
        pairs = [(hits[c], trials[c]) for c in trials if trials[c] > 0]
        if are_counts and below > len(pairs) and (outside or differ(pairs)):
            low, high = (bounds[0] + x * (bounds[1] - bounds[0]) for x in beta_binomial(pairs))
            low, high = min(low, value), max(high, value)
    return value, (low, high), p


def differ(pairs):
    """Whether shares of clusters vary more than within them, by an analysis of variance."""
    total_trials, count = sum(n for _, n in pairs), len(pairs)
    mean = sum(h for h, _ in pairs) / total_trials
    between = sum(n * (h / n - mean) ** 2 for h, n in pairs) / (count - 1)
    return between > sum(h * (1 - h / n) for h, n in pairs) / (total_trials - count)


def beta_binomial(pairs):
    """The central 95% of the mean's posterior: both it and the correlation have arcsine priors.

    The model is documented; the grid is not part of its definition and was taken over from
    sally.stats.cluster_interval, so that the last digit can agree: 200 cells of the mean's arcsine
    within 8 standard errors of clusters, 48 of the correlation's, an even density within a cell.
    """
    share = min(sum(h for h, _ in pairs) / sum(n for _, n in pairs), 1.0)
    middle = math.asin(math.sqrt(share))
    reach = 4 / math.sqrt(len(pairs))  # as an angle, of which pi / 2 is the whole
    first, last = max(0.0, middle - reach), min(math.pi / 2, middle + reach)
    cells = np.linspace(first, last, 201)
    mean = np.sin((cells[:-1] + cells[1:]) / 2)[None, :] ** 2
    alike = np.sin(np.pi / 2 * (np.arange(48) + 0.5) / 48)[:, None] ** 2
    a, b = mean * (1 / alike - 1), (1 - mean) * (1 / alike - 1)
    log = sum(
        times * (betaln(a + h, b + n - h) - betaln(a, b))
        for (h, n), times in Counter(pairs).items()
    )
    mass = np.exp(log - log.max()).sum(axis=0)
    cumulative = np.concatenate([[0.0], mass.cumsum()]) / mass.sum()
    low, high = np.sin(np.interp([0.025, 0.975], cumulative, cells)) ** 2
    return (0.0 if share == 0 else float(low)), (1.0 if share == 1 else float(high))


def wilson(value, error, n_clusters, reach, lowest, highest):
    wide = highest - lowest
    share = min(max((value - lowest) / wide, 0.0), 1.0)
    spread = share * (1 - share)
    trials = spread / (error / wide) ** 2 if error and spread else float(n_clusters)
    square = reach * reach / trials
    middle = (share + square / 2) / (1 + square)
    half = reach / (1 + square) * math.sqrt(spread / trials + square / (4 * trials))
    low = lowest if share == 0 else lowest + wide * max(0.0, middle - half)
    high = highest if share == 1 else lowest + wide * min(1.0, middle + half)
    return min(low, value), max(high, value)


def show(estimate, places=2):
    value, interval, _ = estimate
    if value is None or interval is None:
        return "-"
    value, low, high = (text(x, places) for x in (value, *interval))
    return f"{value} [{low}, {high}]"


def text(value, places):
    """A figure; what sums of floats add beyond nine places does not decide a half."""
    return f"{round(value, 9):.{places}f}"


def share(rows, above, below):
    return ratio([(100 * above(e), below(e), e.unit) for e in rows if below(e)], (0.0, 100.0))


def knowing(rows):
    """Right %, the best mindless rule and its %, and knowing beyond it."""
    n_scored = sum(e.scored for e in rows)
    if not n_scored:
        return share(rows, lambda e: e.right, lambda e: e.scored), "-", "-", (None, None, math.nan)
    totals = defaultdict(Counter)
    for e in rows:
        totals[e.company].update(e.truths)
    fixed_hits = {}
    for e in rows:
        others = totals[e.company] - e.truths
        if others:
            commonest = max(others, key=lambda truth: (others[truth], str(truth)))
            fixed_hits[e] = e.truths[commonest]
        else:
            fixed_hits[e] = e.guess
    rules = {
        "as last time": lambda e: e.again,
        "as one did last oneself": lambda e: e.mirror,
        "always the same": lambda e: fixed_hits[e],
    }
    name = max(rules, key=lambda rule: sum(rules[rule](e) for e in rows))
    rule_hits = sum(rules[name](e) for e in rows)
    room = n_scored - rule_hits
    beyond = (None, None, math.nan)
    if room > 0.05 * n_scored:
        floor = rules[name]
        beyond = ratio(
            [(e.right - floor(e), e.scored - floor(e), e.unit) for e in rows if e.scored],
            (-rule_hits / room, 1.0),
        )
    right = share(rows, lambda e: e.right, lambda e: e.scored)
    return right, text(100 * rule_hits / n_scored, 1), name, beyond


def elsewhere(rows, of):
    """By episode: the sum over the episodes of all other instances."""
    total, by_unit = 0.0, defaultdict(float)
    for e in rows:
        total += of(e)
        by_unit[e.unit] += of(e)
    return {e: total - by_unit[e.unit] for e in rows}


def keys_elsewhere(rows, kind):
    totals, by_unit = defaultdict(lambda: [0, 0]), defaultdict(lambda: [0, 0])
    for e in rows:
        for key, (offered, pressed, _) in e.keys.items():
            if key[0] == kind:
                for counts in (totals[key], by_unit[e.unit, key]):
                    counts[0] += offered
                    counts[1] += pressed
    fits, bias = {}, []
    for e in rows:
        expected = presses = blind = agreed = 0.0
        for key, (offered, pressed, best) in e.keys.items():
            if key[0] != kind:
                continue
            offered_elsewhere, hits = (totals[key][n] - by_unit[e.unit, key][n] for n in range(2))
            expected += best * (hits / offered_elsewhere if offered_elsewhere else 1 / e.options)
            if offered_elsewhere:
                presses += pressed
                blind += offered / e.options**2
                agreed += pressed * hits / offered_elsewhere
        fits[e] = expected
        if presses:
            bias.append((agreed - blind, presses - blind, e.unit, blind))
    top_presses = defaultdict(int)
    names = {}
    for key in sorted(totals):
        of = key[1].partition(" of ")[2]
        if totals[key][1] > top_presses[of] or of not in names:
            top_presses[of], names[of] = totals[key][1], key[1]
    return fits, bias, sum(top_presses.values()), sorted(names.values())


def acting(rows):
    """Fits %, ITT, the best habit, acting beyond it, and acting beyond a blind pick."""
    judged = sum(e.judged for e in rows)
    due = judged + sum(e.forfeits for e in rows)
    fits = sum(e.fits for e in rows)
    fits_text = share(rows, lambda e: e.fits, lambda e: e.judged)
    itt = text(100 * fits / due, 1) if due else "-"
    nothing = (None, None, math.nan)
    if not judged:
        return fits_text, itt, "-", "-", nothing, nothing, nothing
    habits = {"a blind pick": {e: e.blind for e in rows}}
    habits["one label"] = keys_elsewhere(rows, "label")[0]
    habits["one position"] = keys_elsewhere(rows, "position")[0]
    for name, did, able, on_key, off_key in (
        ("the predicted label", "did", "able", "on", "off"),
        ("the other's last move", "copies", "copyable", "copied_on", "copied_off"),
    ):
        if any(getattr(e, able) for e in rows):
            habits[name] = expected_fits(rows, did, able, on_key, off_key)
    best = max(habits, key=lambda name: sum(habits[name].values()))
    expected = habits[best]
    habit_fits = sum(expected.values())
    beyond = nothing
    if judged - habit_fits > 0.05 * judged:
        beyond = ratio([(e.fits - expected[e], e.judged - expected[e], e.unit)
                        for e in rows if e.judged],
                       (-habit_fits / (judged - habit_fits), 1.0))  # fmt: skip
    blind = ratio([(e.fits - e.blind, e.judged - e.blind, e.unit) for e in rows if e.judged])
    one_move = keys_elsewhere(rows, "move")[0]
    own_last = expected_fits(rows, "repeats", "repeatable", "repeated_on", "repeated_off")
    for other_habit in (one_move, own_last):
        if sum(other_habit.values()) > habit_fits:
            expected, habit_fits = other_habit, sum(other_habit.values())
    beyond_any = nothing
    if judged - habit_fits > 0.05 * judged:
        beyond_any = ratio([(e.fits - expected[e], e.judged - expected[e], e.unit)
                            for e in rows if e.judged],
                           (-habit_fits / (judged - habit_fits), 1.0))  # fmt: skip
    habit = text(100 * sum(habits[best].values()) / judged, 1)
    return fits_text, itt, habit, best, beyond, blind, beyond_any


def expected_fits(rows, did, able, on_key, off_key):
    """What a habit explains that follows some option as often as in the other instances."""
    top = elsewhere(rows, lambda e: getattr(e, did))
    bottom = elsewhere(rows, lambda e: getattr(e, able))
    rates = {e: top[e] / max(bottom[e], 1e-12) for e in rows}
    return {e: rates[e] * getattr(e, on_key) + (1 - rates[e]) * getattr(e, off_key) for e in rows}


def bias_of(rows, kind):
    bias = keys_elsewhere(rows, kind)[1]
    room = sum(b for _, b, _, _ in bias)
    if room <= 0:
        return None, None, math.nan
    return ratio([(a, b, u) for a, b, u, _ in bias], (-sum(x for *_, x in bias) / room, 1.0))


def describe_habit_keys(rows):
    presses = sum(e.presses for e in rows)
    keys, sentences = [], []
    for kind in ("label", "position"):
        _, bias, top_presses, names = keys_elsewhere(rows, kind)
        counted_presses = sum(b + x for _, b, _, x in bias)
        if presses > 1 and counted_presses >= 0.9 * presses and top_presses >= 0.9 * presses:
            key_text = f"{kind} {names[0]}"
            description = (
                key_text if len(names) == 1 else f"one {kind} of each of {len(names)} sets"
            )
            keys.append(f"{description} in {100 * top_presses / presses:.0f} %")
    if keys:
        sentences.append(f"always presses one key: {' and '.join(keys)} of {presses} moves")
    for did, able, description in (
        ("did", "able", "plays the label that it predicted of the other"),
        ("copies", "copyable", "repeats the other's last move"),
    ):
        n_able, hits = (sum(getattr(e, name) for e in rows) for name in (able, did))
        if not keys and n_able > 1 and hits >= 0.9 * n_able:
            sentences.append(f"{description} in {100 * hits / n_able:.0f} % of {n_able} moves")
    return "; ".join(sentences) or "-"


def holm(ps):
    ranked = sorted((p, n) for n, p in enumerate(ps) if not math.isnan(p))
    out, running = list(ps), 0.0
    for rank, (p, n) in enumerate(ranked):
        running = max(running, min(1.0, (len(ranked) - rank) * p))
        out[n] = running
    return out


def said_p(p):
    return "-" if math.isnan(p) else "<.001" if p < 0.001 else f"{p:.3f}"


# --- the tables -----------------------------------------------------------------------------------


def line(cells):
    return f"| {' | '.join(cells)} |"


def primary(model, episodes, depending):
    for strategy in STRATEGIES:
        groups = [[e for e in episodes if e.cell.startswith(f"primary: {g}, {strategy},")]
                  for g in GAMES]  # fmt: skip
        acted = [acting(rows) for rows in groups]
        habits = holm([figures[4][2] for figures in acted])
        blind = holm([figures[5][2] for figures in acted])
        for n, (game, rows) in enumerate(zip(GAMES, groups, strict=True)):
            right, percent, rule, beyond = knowing(rows)
            row_head = [model, strategy, game]
            yield line(
                [
                    *row_head,
                    str(len(rows)),
                    show(right, 1),
                    percent,
                    rule,
                    show(beyond),
                ]
            )
            fits, itt, habit, name, beyond_any, pick, move = acted[n]
            depending_figures = acting(
                [e for e in depending if e.cell.startswith(f"primary: {game}, {strategy},")]
            )
            yield line([*row_head, show(fits, 1), itt, habit, name, show(beyond_any),
                        said_p(habits[n]),
                        show(pick), said_p(blind[n]), show(move),
                        show(depending_figures[4])])  # fmt: skip
            judged = sum(e.judged for e in rows)
            depends = text(100 * sum(e.decided for e in rows) / judged, 0) if judged else "-"
            yield line([*row_head, show(bias_of(rows, "label")), show(bias_of(rows, "position")),
                        show(share(rows, lambda e: e.did, lambda e: e.able), 1),
                        show(share(rows, lambda e: e.copies, lambda e: e.copyable), 1),
                        show(share(rows, lambda e: e.repeats, lambda e: e.repeatable), 1), depends,
                        str(sum(e.forfeits for e in rows)), describe_habit_keys(rows)])  # fmt: skip


def regret_of(rows):
    """The optimum of all rounds less the reward, per round; forfeited rounds earn nothing."""
    return ratio([(e.optimum - e.reward, 1.0, e.unit) for e in rows])


def partners(model, episodes):
    for strategy in STRATEGIES:
        for game in GAMES:
            for partner in PARTNERS:
                rows = [e for e in episodes if e.cell == f"primary: {game}, {strategy}, {partner}"]
                fits, _, _, _, beyond_any, _, move = acting(rows)
                yield line([model, strategy, game, partner, show(knowing(rows)[3]), show(fits, 1),
                            show(beyond_any), show(move), show(regret_of(rows), 3)])  # fmt: skip


def secondary(model, episodes):
    arms = [(arm, f"{arm},") for arm in ARMS]
    arms += [(f"{s}, constant partner", f"{s}, constant") for s in STRATEGIES]
    for arm, prefix in arms:
        for game in GAMES:
            rows = [e for e in episodes if e.cell.startswith(f"secondary: {game}, {prefix}")]
            if not rows:
                continue
            right, _, _, beyond = knowing(rows)
            fits, _, _, _, beyond_any, _, _ = acting(rows)
            pays = [p[0] for row in PAYS[game] for p in row]
            reward = ratio([(e.reward, 1.0, e.unit) for e in rows],
                           (float(min(pays)), float(max(pays))))  # fmt: skip
            yield line([model, arm, game, str(len(rows)), show(right, 1), show(beyond),
                        show(fits, 1), show(beyond_any), show(bias_of(rows, "label")),
                        show(share(rows, lambda e: e.did, lambda e: e.able), 1), show(reward, 3),
                        show(regret_of(rows), 3), str(sum(e.forfeits for e in rows))])  # fmt: skip


def levels(model, records):
    """Share of rounds won in hide and seek, share of successes in toma_po, by depth."""
    for strategy in ("lm", "social_lm", "qa"):
        for game, level in (("hide_and_seek", "level"), ("toma_po", "depth")):
            for k in range(4):
                cell = f"secondary: {game}, {strategy}, {level} {k}"
                rows, forfeits = [], 0
                for record in (r for r in records if r["cell"] == cell):
                    events = record["events"]
                    forfeits += sum(e["kind"] == "forfeited" for e in events)
                    if game == "toma_po":
                        did = next((e["payoffs"]["player"] for e in events if "payoffs" in e), 0.0)
                    else:
                        moves = defaultdict(dict)
                        for e in events:
                            if e["kind"] == "moved":
                                moves[e["turn"]][e["seat"]] = e["action"]
                        won = [
                            m["player_1"] == m["player_2"] for m in moves.values() if len(m) == 2
                        ]
                        did = sum(won) / record["setup"]["instance"]["params"]["rounds"]
                    rows.append((did, 1.0, record["setup"]["instance"]["id"]))
                if rows:
                    ratio_text = show(ratio(rows, (0.0, 1.0)))
                    yield line([model, strategy, game, f"{level} {k}", str(len(rows)), ratio_text,
                                str(forfeits)])  # fmt: skip


def main():
    ours = []
    for name in sys.argv[2:]:
        model = Path(name).name.removeprefix("knowing_doing-").removesuffix(".sally.zip")
        with zipfile.ZipFile(name) as bundle, bundle.open("episodes.jsonl") as lines:
            records = [json.loads(record_line) for record_line in lines]
        repeated = [r for r in records if r["setup"]["instance"]["game"] in GAMES]
        episodes = [Episode(r) for r in repeated]
        depending = [Episode(r, True) for r in repeated if r["cell"].startswith("primary")]
        ours += [*primary(model, episodes, depending), *partners(model, episodes)]
        ours += [*secondary(model, episodes), *levels(model, records)]
    if sys.argv[1] == "-":
        print("\n".join(ours))
        return
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    models = {row.split(" | ")[0] for row in ours}
    page_rows = [row for row in page.splitlines() if row.split(" | ")[0] in models]
    missing = [row for row in page_rows if row not in set(ours)]
    extra = [row for row in ours if row not in set(page_rows)]
    for title, rows in (("on the page only", missing), ("recomputed only", extra)):
        for row in rows:
            print(f"{title}: {row}")
    print(f"{len(page_rows) - len(missing)} of {len(page_rows)} rows of the page recomputed")
    sys.exit(1 if missing or extra else 0)


if __name__ == "__main__":
    main()
