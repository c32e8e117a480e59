"""The families of extrapolation rules."""

from sally.games.pick_the_right_stuff.extrapolation import FAMILIES, Family, Rule


def family_of(rule: Rule) -> Family:
    """Return the family that a rule belongs to."""
    return next(family for family in FAMILIES if family == rule.__struct_config__.tag)
