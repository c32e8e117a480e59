"""Every control shown on bots, learners and the language models of the shipped results.

    python -m benchmarks.controls docs/results/controls.md

Runs the commands below as a user would and writes what they print. Bots and learners are played
here; of language models only what lies in docs/results/bundles is read, and nothing new is played.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner

from sally.cli import cli

BUNDLES = "docs/results/bundles"
KANG = f"{BUNDLES}/kang2026-0.5b.sally.zip {BUNDLES}/kang2026-1.5b.sally.zip"
FIRST = f"{BUNDLES}/quickstart_model-1.5b.sally.zip"
BOTS = (
    ("", "run quickstart --out out/quickstart --limit 3 --unasked"),
    ("The cost of decisions", "why out/quickstart --most 3"),
    ("Another player from step 20 on",
     "fork out/quickstart --turn 20 --seat agent=tabular --repeats 6"),
    ("Reliability and validity", "reliability out/quickstart"),
    ("Does asking change play?", "contrast out/quickstart --asked"),
    ("Sources of variance", "variance out/quickstart --game rps"),
    ("Reporting checklist", "audit --checklist quickstart"),
)  # fmt: skip
MODELS = (
    ("The cost of decisions", f"why {FIRST} --most 3"),
    ("A learner instead of the model from step 5 on",
     f"fork {FIRST} --turn 5 --seat agent=tabular"),
    ("Reliability and validity", f"reliability {KANG}"),
    ("Sources of variance", f"variance {KANG} --game toma_po"),
    ("Does the model mention a test?", f"score {FIRST} --metric mentions_test"),
    ("Reporting checklist", "audit --checklist kang2026"),
)  # fmt: skip
SIZES = ("0.5b", "1.5b")
WORDS, LAYOUTS = (
    tuple(f"{BUNDLES}/{name}-{size}.sally.zip" for size in SIZES) for name in ("words", "controls")
)
OTHER_WORDS = (
    *((f"Mind or mechanism, {size}", f"contrast {store} --twin")
      for size, store in zip(SIZES, WORDS, strict=True)),
    *((f"By the answer to the awareness probe, {size}", f"contrast {store} --aware")
      for size, store in zip(SIZES, WORDS, strict=True)),
    *((f"Does asking change play? {size}", f"contrast {store} --asked")
      for size, store in zip(SIZES, WORDS, strict=True)),
    ("Sources of variance", f"variance {' '.join(WORDS)}"),
)  # fmt: skip
LAYOUT = (
    ("Sources of variance", f"variance {' '.join(LAYOUTS)}"),
    *((f"Does it follow its own policy? {size}", f"score {store} --metric follows_policy")
      for size, store in zip(SIZES, LAYOUTS, strict=True)),
)  # fmt: skip
PARTS = (
    ("Bots and learners", BOTS, "The script plays these episodes."),
    ("Two small language models", MODELS, "These episodes are read from the shipped "
     "bundles; only the fork, in which a learner continues a stored episode, is played."),
    ("The same models in other wordings", OTHER_WORDS, "The study `quickstart_model` was run with "
     "`--packs all --packs aware --aware --unasked`: ten rounds of three games in every wording, "
     "in the twin that describes a mechanism, under frames that state the purpose of the prompt, "
     "and without probes."),
    ("The same models under other layouts, and as authors of a policy", LAYOUT, "The study "
     "`controls` varies sixteen page layouts and asks a model to write a policy once; the policy "
     "is then executed, or only stored while the model plays."),
)  # fmt: skip


def page() -> Iterator[str]:
    """The page, line by line."""
    yield "# Controls on bots, learners and language models"
    yield ""
    yield (
        "This page shows the control analyses of Sally on bots, learners and two small language "
        "models: each command with its output. `python -m benchmarks.controls "
        "docs/results/controls.md` writes this page. [Validity](../discussion/validity.md#what-the-"
        "controls-can-and-cannot-support) explains which conclusions the figures support."
    )
    yield ""
    yield (
        "Of the nine points of the reporting checklist, the study of bots completes four and "
        "kang2026 three. With 2 or 4 pairs of episodes a sign-flip test cannot give a p below .5 "
        "or .125, so a result that is not significant says nothing for or against a difference."
    )
    for title, commands, about in PARTS:
        yield from ("", f"## {title}", about)
        for heading, command in commands:
            if heading:
                yield from ("", f"### {heading}")
            yield from ("", "```text", f"$ sally {command}", *printed(command), "```")


def printed(command: str) -> list[str]:
    """What a command prints, without the lines of its progress; a failure stops the script."""
    print(f"sally {command}", file=sys.stderr, flush=True)
    done = CliRunner().invoke(cli, command.split(), catch_exceptions=False)
    if done.exit_code:
        raise SystemExit(f"sally {command} failed: {done.output}")
    return [line.rstrip() for line in done.stdout.splitlines()]


def write(out: Path) -> None:
    """The page as a file; what is played lies in a folder that is thrown away."""
    results = (Path(__file__).parents[1] / BUNDLES).resolve()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / BUNDLES
        place.parent.mkdir(parents=True)
        place.symlink_to(results, target_is_directory=True)
        with chdir(folder), out.open("w", encoding="utf-8") as file:
            for line in page():
                print(line, file=file, flush=True)


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "controls.md").resolve())
