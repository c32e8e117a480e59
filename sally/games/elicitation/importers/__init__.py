"""Importer of decisions with stated beliefs."""

from sally.core.registry.paper import Importer, ImportOption
from sally.games.elicitation.importers import beliefs

IMPORTERS = (
    Importer(
        "beliefs",
        "decisions with stated beliefs from a file (.jsonl), one row per decision",
        beliefs.import_beliefs,
        options=(ImportOption("licence", "Licence of the data.", str),),
        schema=beliefs.beliefs_schema,
    ),
)
