"""Importers of repeated matrix games that were recorded elsewhere."""

from pathlib import Path

from sally.core.registry.paper import Importer, ImportOption
from sally.games.repeated_games.importers import clembench, table, textarena

IMPORTERS = (
    Importer(
        "table",
        "rounds of a repeated game from a table (.csv) and its description (.toml)",
        table.import_table,
        schema=table.table_schema,
    ),
    Importer(
        "textarena",
        "two-player matrix games of TextArena, one recorded game per line",
        textarena.import_records,
    ),
    Importer(
        "clembench",
        "two-player matrix games in logs of clembench, a file or a folder",
        clembench.read,
        options=(
            ImportOption("game", "The game: rps, ibs or ipd.", str),
            ImportOption("matrix", "JSON or TOML file with the payoff `matrix`.", Path),
            ImportOption("names", "Names of the moves in order, such as J,F.", str),
            ImportOption("rounds", "Number of rounds [that of the longest game].", int),
            ImportOption("only", "Name of the game in the logs, if they hold several games.", str),
            ImportOption(
                "reply", "Regular expression whose group is the move [the name alone].", str
            ),
            ImportOption("noted", "Type of the log entry with the move that was counted.", str),
            ImportOption("paid", "Type of the log entry with both payoffs of a round.", str),
            ImportOption("source", "Source of the logs [clembench].", str),
            ImportOption("licence", "Licence of the logs.", str),
        ),
    ),
)
