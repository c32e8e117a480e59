"""The kill campaign, in its smallest form: the long ones are benchmarks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CAMPAIGN = Path(__file__).parents[2] / "benchmarks" / "kill.py"


def test_kills_lose_and_duplicate_no_episode() -> None:
    done = subprocess.run(
        [sys.executable, CAMPAIGN, "--kills", "5", "--role", "writer"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = {
        line.split()[0]: line.split()[1].replace(",", "") for line in done.stdout.splitlines()
    }
    assert (counts["kills"], counts["doubled"], counts["lost"]) == ("5", "0", "0")
    assert counts["found"] == counts["expected"] != "0"
