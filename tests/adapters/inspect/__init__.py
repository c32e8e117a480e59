"""Inspect: the contract that the adapter relies on, and the faults it must survive."""

import pytest

pytest.importorskip("inspect_ai", reason="the adapter needs inspect-ai")
