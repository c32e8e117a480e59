"""Games as text environments for training: prompts out, replies in, rewards as columns."""

from sally.adapters.trainers.text.columns import Columns, Row
from sally.adapters.trainers.text.env import TextEnv, TextEnvs
from sally.adapters.trainers.text.seats import TextSeats
from sally.adapters.trainers.text.table import Given, TextTable
from sally.players.calls import Request

__all__ = ["Columns", "Given", "Request", "Row", "TextEnv", "TextEnvs", "TextSeats", "TextTable"]
