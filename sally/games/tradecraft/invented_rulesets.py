"""Invented rulesets: made-up names in a chosen structure, so that no training text describes
them."""

from fractions import Fraction
from random import Random

from sally.games.tradecraft.amounts import Amount, plain
from sally.games.tradecraft.rulesets import BadRuleset, Recipe, Ruleset, Slot

_COST = Fraction(1, 4)  # fuel units for each result of a fired recipe
_STARTS = ["b", "br", "d", "dr", "f", "g", "gl", "h", "j", "k", "kl", "l", "m", "n"]
_STARTS += ["p", "pr", "q", "r", "s", "sk", "t", "tr", "v", "vl", "w", "z"]
_MIDDLES = ["a", "e", "i", "o", "u", "ae", "io", "ou", "ua"]
_ENDS = ["l", "m", "n", "r", "s", "x", "th", "nd", "rk", "sh", "zz"]


def invent_ruleset(
    seed: int,
    *,
    depth: int = 4,
    width: int = 8,
    branching: int = 2,
    ways: float = 0.25,
    contention: float = 0.3,
    families: int = 2,
    fired: float = 0.15,
) -> Ruleset:
    """Return a ruleset of `depth` levels of `width` items each, above 2 * `width` starting goods.

    Each item needs `branching` ingredients, one of them from the level directly below; with
    probability `ways` it has a second recipe. With probability `contention` an ingredient is one of
    three scarce goods that all players need. There are `families` tags that group starting goods; a
    recipe sometimes names such a tag instead of a single good, and a share `fired` of the recipes
    costs fuel.
    """
    _check_shape(depth, width, branching, families, ways, contention, fired)
    rng = Random(f"invented:{seed}:{depth}:{width}:{branching}:{families}")
    names = _names(rng, width * (depth + 2) + families)
    tag_names, names = names[:families], names[families:]
    levels = [names[: 2 * width]]
    levels += [names[(n + 1) * width : (n + 2) * width] for n in range(1, depth + 1)]
    base = levels[0]
    tags = {tag: tuple(base[3 * n : 3 * n + 3]) for n, tag in enumerate(tag_names)}
    scarce = base[-3:]
    fuel: dict[str, Amount] = {base[-4]: 1, base[-5]: 3} if fired else {}
    recipes = []
    for level in range(1, depth + 1):
        for item in levels[level]:
            for _ in range(2 if rng.random() < ways else 1):
                slots = _slots(rng, levels, level, branching, contention, scarce, tags)
                kind, cost = ("fire", _COST) if rng.random() < fired else ("join", 0)
                amount = rng.randint(1, 2)
                recipes.append(Recipe(kind, slots, item, amount, plain(cost * amount)))
    return Ruleset(
        f"invented_{seed}", _without_duplicates(recipes), tags, fuel, given=frozenset(base)
    )


def _slots(
    rng: Random,
    levels: list[list[str]],
    level: int,
    branching: int,
    contention: float,
    scarce: list[str],
    tags: dict[str, tuple[str, ...]],
) -> tuple[Slot, ...]:
    """Return the ingredients of one recipe: one from the level below, the others from any lower
    level."""
    chosen = [_pick(rng, levels[level - 1])]
    below = [item for lower in levels[:level] for item in lower]
    while len(chosen) < branching:
        item = _pick(rng, scarce if rng.random() < contention else below)
        if item not in chosen:
            chosen.append(item)
    slots: dict[str, Slot] = {}
    for item in chosen:
        tag = next((tag for tag, goods in tags.items() if item in goods), None)
        name = f"#{tag}" if tag is not None and rng.random() < 0.7 else item
        goods = tags[name[1:]] if name.startswith("#") else (item,)
        slots.setdefault(name, Slot(rng.randint(1, 3) if level == 1 else 1, name, goods))
    return tuple(slots.values())


def _without_duplicates(recipes: list[Recipe]) -> tuple[Recipe, ...]:
    """Return the recipes without duplicates."""
    return tuple({(recipe.kind, recipe.text()): recipe for recipe in recipes}.values())


def _pick(rng: Random, items: list[str]) -> str:
    return items[rng.randrange(len(items))]


def _names(rng: Random, number: int) -> list[str]:
    """Return distinct pronounceable made-up words."""
    words: dict[str, None] = {}
    while len(words) < number:
        syllables = rng.randint(1, 2)
        word = "".join(_pick(rng, _STARTS) + _pick(rng, _MIDDLES) for _ in range(syllables))
        words[word + _pick(rng, _MIDDLES[:5]) * (syllables == 1) + _pick(rng, _ENDS)] = None
    return list(words)


def _check_shape(
    depth: int,
    width: int,
    branching: int,
    families: int,
    ways: float,
    contention: float,
    fired: float,
) -> None:
    if not 1 <= depth <= 12 or not 4 <= width <= 60:
        raise BadRuleset("An invented ruleset has 1 to 12 levels of 4 to 60 items.")
    if not 2 <= branching <= 4:
        raise BadRuleset("Recipes of an invented ruleset take 2 to 4 ingredients.")
    # Three goods a tag, and the last five starting goods are fuel and scarce goods.
    if not 0 <= 3 * families <= 2 * width - 5:
        raise BadRuleset(f"{families} tags are too many for {2 * width} starting goods.")
    if not all(0 <= share <= 1 for share in (ways, contention, fired)):
        raise BadRuleset("ways, contention and fired must be from 0 to 1.")
