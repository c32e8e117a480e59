"""Tests of the modules in `examples/`, which are not part of the package."""

import sys
from pathlib import Path

# The modules import each other as scripts do, from their own folder. `learner` exists in two
# folders, so its test imports it apart.
EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path += [str(EXAMPLES / "agents"), str(EXAMPLES / "trainers"), str(EXAMPLES / "training")]
