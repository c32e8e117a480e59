"""The code of a section of the training tutorial, for the tests of the doors it opens."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "train_language_model.md"


def example(section: str) -> str:
    """The one block of code under a heading; it needs a library that is not always there."""
    _, text = PAGE.read_text(encoding="utf-8").split(f"## {section}\n", 1)
    (code,) = re.findall(r"```py\n(.*?)```", text.split("\n## ")[0], re.DOTALL)
    return str(code)
