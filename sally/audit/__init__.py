"""Cards: what players without a mind for the other score, so that a score can be read."""

from sally.audit.card import Card, Condition, Shortcut, both_ways, study_of

__all__ = ["Card", "Condition", "Shortcut", "both_ways", "study_of"]
