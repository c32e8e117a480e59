"""Episodes as tables: one row per episode, seat, decision or model call."""

from typing import Any

Row = dict[str, Any]
"""A row of a table: values by column."""
