"""The five scenarios of kang2026 appendix E.1, as data."""

from sally.games.toma.po.rules import Scenario

LANDS = ("Mountain", "River", "Cave", "Forest")

L0_3 = Scenario(
    "L0.3",
    0,
    "printed",
    LANDS,
    ((53, 62, 27, 99), (73, 29, 57, 83), (57, 16, 81, 98), (37, 6, 30, 60)),
    player=0,
    knows=((), (), (), ()),
)
L1_2 = Scenario(
    "L1.2",
    1,
    "printed",
    LANDS,
    ((15, 56, 18, 86), (10, 25, 107, 61), (51, 71, 42, 80), (47, 95, 88, 56)),
    player=1,
    knows=((), (0, 2), (), ()),
)
L2_5 = Scenario(
    "L2.5",
    2,
    "printed",
    ("North", "South", "East", "West"),
    ((7, 47, 71, 63), (6, 16, 138, 79), (5, 87, 15, 137), (68, 70, 54, 93)),
    player=3,
    knows=((), (0,), (0,), (0, 1, 2)),
)
L3_7 = Scenario(
    "L3.7",
    3,
    "printed",
    ("Treaty A", "Treaty B", "Trade Deal", "Alliance"),
    ((89, 53, 58, 74), (73, 34, 68, 38), (74, 35, 43, 30), (61, 77, 20, 9)),
    player=1,
    knows=((2, 3), (0, 2, 3), (3,), ()),
)
L4_18 = Scenario(
    "L4.18",
    4,
    "printed",
    ("Asteroid X", "Asteroid Y", "Asteroid Z", "Asteroid P"),
    ((52, 40, 16, 26), (73, 40, 10, 38), (73, 87, 86, 37), (38, 35, 20, 61)),
    player=3,
    knows=((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)),
    goal="total",
)
ALL = (L0_3, L1_2, L2_5, L3_7, L4_18)
