"""The columns of every table: name, type, heading, unit and meaning, each declared once.

Console, report page, CSV, LaTeX and legends take headings, decimals and explanations from these
declarations. A text column is categorical unless almost every row has its own text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from sally.metrics.habits import Habits

Better = Literal["higher", "lower", ""]
TEXT, COUNT, NUMBER, FLAG = pl.Categorical(), pl.Int64(), pl.Float64(), pl.Boolean()


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    field: str
    heading: str = ""  # of printed tables; empty: the field
    unit: str = ""
    digits: int | None = None  # decimal places in print; None: three significant digits
    better: Better = ""
    about: str = ""
    type: pl.DataType = NUMBER

    @property
    def title(self) -> str:
        """The heading in printed tables."""
        return self.heading or self.field


def _columns(type: pl.DataType, **meanings: str) -> tuple[Column, ...]:
    return tuple(Column(field, about=about, type=type) for field, about in meanings.items())


ROW = Column("row", about="number of the episode in its file", type=pl.UInt32())

EPISODE = (
    *_columns(
        pl.String(),
        episode="id of the episode; empty for a line that holds none",
        seed="seed of the episode",
        usage="calls, tokens and cost by model, as JSON; null without calls",
    ),
    *_columns(
        TEXT,
        cell="cell of the study",
        game="name of the game",
        instance="id of the problem",
        setup="the setup without seed and repeat, as JSON",
        used="what was used besides the setup, such as weights, as JSON",
        end='"over", or the cause of censoring',
        why="why there is no result; empty if there is one",
        bad="why the line holds no episode; empty if it does",
        unplayed="why the episode cannot be replayed here; empty if it can",
        forfeit_reasons="forfeited moves by reason, as JSON",
    ),
    *_columns(
        COUNT,
        repeat="number of the repeat",
        line="number of the line in its file",
        start="first byte of the line in its file",
        size="bytes of the line",
        all_moves="moves of all seats",
        reports="answers to probes",
        unread="answers that could not be read",
    ),
    *_columns(FLAG, cut="whether a resumed run plays the episode again"),
    *_columns(pl.Binary(), digest="hash of the line without its checksum"),
    *_columns(pl.UInt64(), trial="key of the planned trial"),
)

SEAT = (
    *_columns(
        TEXT,
        seat="seat of the game",
        player="player in the seat, with its parameters",
        name="model, or name of the bot without its parameters",
        model="model as it was asked for; null for a bot",
        strategy="way of prompting; null for a bot",
        settings="settings of the model",
        participant="salted hash of the participant, if a person played",
        person="participant by which results are clustered; null if no person played",
        others="players in the other seats",
        censored="why the episode was cut short; null if it was not",
    ),
    *_columns(FLAG, studied="whether the seat was probed or taken by a model or a person"),
    *_columns(
        pl.Binary(), setting="hash of all that the player met: problem, seed and other players"
    ),
    *_columns(
        COUNT,
        turns="turns of the episode",
        moves="moves of the seat",
        forfeited="forfeited moves of the seat",
        retried="answers asked for again",
        calls="model calls",
        input_tokens="tokens of the prompts; null if a call has no count",
        output_tokens="tokens of the replies",
    ),
    *_columns(NUMBER, payoff="payoff of the seat", seconds="duration of the calls"),
)
EXPORTED_SEAT = (
    "episode", "cell", "game", "instance", "repeat", "seat", "player", "model", "strategy",
    "settings", "participant", "others", "turns", "censored", "payoff", "moves", "forfeited",
    "retried", "calls", "input_tokens", "output_tokens", "seconds",
)  # fmt: skip

DECISION = (
    *_columns(COUNT, turn="turn of the episode", tries="tries that the answer took"),
    *_columns(
        TEXT,
        seat="seat that decided",
        player="player in the seat",
        participant="salted hash of the participant, if a person played",
        what="move, forfeit or report",
        probe="probe that was answered",
        about="seat that the probe is about",
        source="probe, or decision for a prediction made with the move",
        truth="true answer, where it is known",
    ),
    *_columns(pl.String(), value="move or answer", label="the same in the player's wording"),
    *_columns(pl.List(pl.Float64()), odds="stated odds of the choices, in order"),
    *_columns(
        NUMBER,
        right="1 if the answer is right, 0 if not",
        brier="squared error of the stated odds",
        log="log score of the stated odds",
        absolute_error="distance from the true value",
        seconds="duration of the calls",
    ),
)
EXPORTED_DECISION = (
    "episode", "cell", "game", "instance", "turn", "seat", "player", "participant", "what",
    "probe", "about", "source", "value", "label", "odds", "truth", "right", "brier", "log",
    "absolute_error", "tries", "seconds",
)  # fmt: skip

CALL = (
    *_columns(
        TEXT,
        seat="seat that asked",
        model="model that was called",
        purpose="move, probe or another purpose",
        finish="why the reply ended",
        failure="kind of failure; empty if there was none",
    ),
    *_columns(pl.String(), prompt="hash of the prompt"),
    *_columns(COUNT, turn="turn", input_tokens="of the prompt", output_tokens="of the reply"),
    *_columns(NUMBER, seconds="duration", cost="in the provider's currency; null if unknown"),
)

# --- sums over one seat of one episode, from which a profile is computed --------------------------

HABITS = Habits.__struct_fields__[:-2]  # the last fields hold the keys and the rules
SUMS = (
    "asked", "unread", "scored", "right", "guess", "with_odds", "brier", "even_brier", "valued",
    "value_error", "as_last_time", "as_own_move",
    "n", "fits", "weighed", "weighed_fits", "chance",
    "forecasts", "copied", "contrasted", "contrast", *HABITS,
    "twice", "same", "same_by_chance", "retested", "retest_contrast", "moves", "forfeits",
)  # fmt: skip
LEVELS = ("doing", "least", "most", "optimum", "inference", "translation", "format", "luck")

PROFILE = (
    *_columns(
        TEXT,
        kind="cell, family, seat, metric, span and setup of the seat, as JSON",
        censored="why there is no result; empty if there is one",
        person="participant, if a person played",
        truths="occurrences of each true answer, as JSON",
        sure_truths="the same for answers with stated odds",
        keys="pressed keys, as JSON",
        followed="how often each simple rule was followed, as JSON",
        bins="calibration bins, as JSON",
        probes="right answers and answers of each probe about a mind, as JSON",
        rules="right answers of each simple rule, as JSON",
    ),
    *_columns(pl.Binary(), setting="hash of all that the player met"),
    *(Column(field, about="sum over the episode; null counts as 0") for field in SUMS),
    *(Column(field, about="null if it is not defined") for field in LEVELS),
)


def polars_schema(columns: tuple[Column, ...]) -> dict[str, Any]:
    """Return the polars type of each column."""
    return {column.field: column.type for column in columns}
