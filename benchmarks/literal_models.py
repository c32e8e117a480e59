"""Scores of models on batteries beside the best mindless rule.

`python -m benchmarks.literal_models STORE...`, where a STORE is a folder or bundle of `sally run
literal` or of a study that `sally import bigtom|hitom|tombench --study` wrote; imported items must
be on this machine. Episodes that ask for the belief first, or remind of it, are separate groups.
Per cent right, of answered items; a strict group with a forfeit is not right. Intervals are 95%, by
story.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from sally import store
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.battery.audit import rules_of
from sally.games.battery.items import Item
from sally.games.battery.metrics import answers
from sally.games.battery.mindless import chance, share
from sally.games.battery.scores import majority, strict_groups, strict_share
from sally.stats.cluster_interval import mean_by_rule
from sally.store.bundles import open_store

MINDED = {"first_mind", "last_mind", "talk_ignored"}  # rules of the audit that follow a mind
Given = dict[str, tuple[Item, int | None]]  # item -> its majority answer


def given_in(store_path: str) -> Iterator[tuple[str, str, Given]]:
    """Yield the model, the arm and the answers of each group of episodes."""
    groups: dict[tuple[str, str], Given] = {}
    with open_store(store_path) as (place, _):
        for episode in store.load(place).episodes.values():
            spec = registry.game(episode.setup.instance.game)
            player = episode.setup.lineup["reader"]
            arm = "reminded" if episode.setup.injections else ""
            arm = arm or ("asked" if episode.setup.arms.get("reader") else "plain")
            model = str(player.params.get("model", player.player))
            played = Played(spec, episode, replay_episode(spec, episode))
            for item, item_answers in answers(played, Seat("reader")):
                groups.setdefault((model, arm), {})[item.id] = (item, majority(item_answers))
    for (model, arm), group_answers in groups.items():
        yield model, arm, group_answers


def groups_of(items: Sequence[Item]) -> dict[str, list[Item]]:
    """Return items by task, and by order or condition where a task has them."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        task = item.task or "no task"
        groups.setdefault(task, []).append(item)
        if task in ("nested", "hitom"):
            groups.setdefault(f"{task}, order {item.order}", []).append(item)
        elif item.belief_stated is not None:
            groups.setdefault(f"{task}, {item.condition}", []).append(item)
    return dict(sorted(groups.items()))


def best_rule(items: Sequence[Item]) -> tuple[str, float]:
    """Return the best mindless rule on these items, readings that skip a step included."""
    shared_rules = set.intersection(*({*rules_of(item)} for item in items)) - MINDED
    shares = {name: share(rules_of(items[0])[name], items) for name in sorted(shared_rules)}
    for name in set.intersection(*({*item.mindless} for item in items)):
        shares[name] = 100 * sum(item.mindless[name] == item.answer for item in items) / len(items)
    name = max(shares, key=shares.__getitem__)
    return name, shares[name]


def say(model: str, arm: str, group_answers: Given) -> None:
    items = [item for item, _ in group_answers.values()]
    print(f"{model}, {arm}: group, n, chance, best mindless, right [95%], unreadable", flush=True)
    for name, members in groups_of(items).items():
        read = [item for item in members if group_answers[item.id][1] is not None]
        if not read:
            continue
        hits = [100.0 * (group_answers[item.id][1] == item.answer) for item in read]
        estimate = mean_by_rule(hits, [item.pair or item.id for item in read], (0.0, 100.0))
        rule, best = best_rule(members)
        low, high = estimate.interval or (float("nan"), float("nan"))
        print(
            f"  {name:44} {len(members):5} {chance(members):5.1f} {best:5.1f} {rule:24}"
            f" {estimate.value:5.1f} [{low:.1f}, {high:.1f}] {len(members) - len(read)}"
        )
    right = {item.id for item, answer in group_answers.values() if answer == item.answer}
    kinds: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for key, ids in strict_groups(items).items():
        kinds.setdefault(", ".join(key[:-1]) or "stories", {})[key] = ids
    for name, strict in sorted(kinds.items()):
        value = strict_share(strict, right)
        rule_functions = {
            rule: rule_function
            for item in items
            for rule, rule_function in rules_of(item).items()
            if rule not in MINDED
        }
        rules = {
            rule: strict_share(strict, {i.id for i in items if rule_function(i) == (i.answer,)})
            or 0.0
            for rule, rule_function in rule_functions.items()
        }
        best_name = max(rules, key=rules.__getitem__)
        print(
            f"  strict: {name:36} {len(strict):5}       {rules[best_name]:5.1f} {best_name:24}"
            f" {value:5.1f}",
            flush=True,
        )


def main(*stores: str) -> None:
    for store_path in stores:
        for model, arm, group_answers in given_in(store_path):
            say(model, arm, group_answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
