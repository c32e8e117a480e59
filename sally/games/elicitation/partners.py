"""Players of elicitation: the recorded people and models of imported tables."""

from __future__ import annotations

from sally.core.match.partner import by_name
from sally.parts.importers import recorded_partner

PARTNERS = by_name(recorded_partner(name="human"))
