"""The three scenarios of kang2026 appendix E.2, as data, with what had to be assumed.

L1: agent 2's "Brwon interior" is read as brown interior.
L2: clinking coins, cold spirits and steep cliffs belong to no printed place; they meet nothing.
L3: fruity tarts and chocolate chips belong to no printed place either. Fruity tarts are given to
Berry Farm, chocolate chips to nobody: without the first, agent 3 has no reason to go anywhere.
"""

from sally.games.toma.mg.rules import Agent, Place, Scenario

L1 = Scenario(
    "L1-1-88629",
    1,
    "printed",
    (
        Place("Berry Farm", ("pink decorations", "fresh strawberries")),
        Place("Minty Cool", ("green theme", "strong mint flavor")),
        Place("Choco Heaven", ("brown interior", "rich dark chocolate")),
        Place("Pure Vanilla", ("white clean look", "no toppings", "classic vanilla")),
    ),
    (
        Agent("1", ("brown interior", "green theme"), ("fresh strawberries", "mint flavor")),
        Agent("2", ("rich dark chocolate", "mint flavor"), ("brown interior", "white clean look")),
        Agent("3", ("clean look", "brown interior"), ("dark chocolate", "strawberries")),
        Agent("4", ("strong mint flavor", "classic vanilla"), ("green theme", "pink decorations")),
    ),
)
L2 = Scenario(
    "L2-1-37099",
    2,
    "printed",
    (
        Place("Goblin Market", ("crowded stalls", "loud trading", "bargaining shouts")),
        Place("Dragon's Peak", ("hot lava", "scorching fire", "burning heat")),
        Place("Shadow Crypt", ("ancient tombs", "eerie ghosts", "haunted whispers")),
        Place("Crystal Cave", ("magical energy", "mysterious hum", "arcane aura")),
    ),
    (
        Agent("1", ("scorching fire", "clinking coins"), ("bargaining shouts", "eerie ghosts")),
        Agent("2", ("cold spirits",), ("haunted whispers", "steep cliffs"), follows=2),
        Agent("3", ("mysterious hum", "burning heat"), ("scorching fire", "cold spirits")),
        Agent("4", ("crowded stalls", "cold spirits"), ("eerie ghosts", "steep cliffs")),
    ),
)
L3_AS_PRINTED = Scenario(
    "L3-1-62738",
    3,
    "printed",
    (
        Place("Berry Farm", ("pink decorations", "fresh strawberries", "sour sorbets")),
        Place("Minty Cool", ("green theme", "strong mint flavor", "refreshing taste")),
        Place("Choco Heaven", ("brown interior", "rich dark chocolate", "cocoa aroma")),
        Place("Pure Vanilla", ("white clean look", "no toppings", "simple milkshakes")),
    ),
    (
        Agent("1", ("brown interior", "pink decorations"), ("chocolate chips",), avoids=2),
        Agent("2", ("rich dark chocolate", "chocolate chips"), ("strong mint", "pink decorations")),
        Agent("3", ("fruity tarts", "chocolate chips"), ("green theme", "brown interior")),
        Agent("4", ("simple milkshakes", "cocoa aroma"), ("strong mint",), avoids=0),
    ),
)


def with_feature(scenario: Scenario, place: int, feature: str) -> Scenario:
    """The scenario with one more feature at a place."""
    places = list(scenario.places)
    places[place] = Place(places[place].name, (*places[place].features, feature))
    return Scenario(scenario.id, scenario.level, scenario.story, tuple(places), scenario.agents)


L3 = with_feature(L3_AS_PRINTED, 0, "fruity tarts")
ALL = (L1, L2, L3)
