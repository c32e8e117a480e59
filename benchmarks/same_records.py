"""Hash what must not change between two commits: exported rows, replays, freshly played episodes.

    python benchmarks/same_records.py > after.txt      # in each of two checkouts, then compare

Exports the rows of every shipped bundle and plays `quickstart`, all through the command line, whose
names and options are stable. Prints one line per item: name, hash.
With `--replay`, every bundle is replayed as well, which takes some minutes.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUNDLES = sorted([*ROOT.glob("docs/results/**/*.zip"), *ROOT.glob("sally/studies/records/*.zip")])
VOLATILE = ("sum",)  # fields of a stored line that depend on its own bytes


def sally(*arguments: str) -> str:
    """Run the command line of this checkout and return what it prints."""
    command = [sys.executable, "-m", "sally", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr.strip()[-300:]}")
    return done.stdout


def digest(data: bytes) -> str:
    """Return a short hash."""
    return hashlib.sha256(data).hexdigest()[:16]


def hash_export(bundle: Path, folder: Path) -> str:
    """Return the hash of a bundle's exported rows and decisions."""
    rows, decisions = folder / "rows.csv", folder / "decisions.csv"
    sally("export", str(bundle), "--out", str(rows))
    sally("export", str(bundle), "--out", str(decisions), "--what", "decisions")
    return f"{digest(rows.read_bytes())} {digest(decisions.read_bytes())}"


def hash_run(study: str, folder: Path) -> str:
    """Return the hash of the lines that a study of bots writes, in order of their ids."""
    out = folder / study
    sally("run", study, "--out", str(out))
    lines = []
    for file in out.rglob("*.jsonl"):
        for line in file.read_text("utf-8").splitlines():
            record = json.loads(line)
            lines.append(json.dumps({k: v for k, v in record.items() if k not in VOLATILE}))
    return f"{len(lines)} {digest(chr(10).join(sorted(lines)).encode())}"


def main() -> None:
    """Print the hashes of this checkout."""
    with tempfile.TemporaryDirectory() as folder:
        print("played quickstart", hash_run("quickstart", Path(folder)), flush=True)
        for bundle in BUNDLES:
            print("exported", bundle.name, hash_export(bundle, Path(folder)), flush=True)
            if "--replay" in sys.argv:
                replayed = json.loads(sally("replay", str(bundle), "--json"))
                wrong = len(replayed["mismatches"])
                print(
                    "replayed", bundle.name, replayed["replayed"], "mismatches", wrong, flush=True
                )


if __name__ == "__main__":
    main()
