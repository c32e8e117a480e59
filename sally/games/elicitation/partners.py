"""Players of elicitation: the recorded people and models of imported tables."""

from __future__ import annotations

from sally.core.log.imported import recorded_partner
from sally.core.rules.partner import by_name

PARTNERS = by_name(recorded_partner(name="human"))
