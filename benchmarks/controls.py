"""Every control shown on bots, learners and the language models of the shipped results.

    python -m benchmarks.controls docs/results/appendix/controls.md

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
    ("", "run quickstart --out out/quickstart --limit 18 --unasked"),
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
QUICKSTART, KANG_LIST = "audit --checklist quickstart", "audit --checklist kang2026"
NOTES = {  # by command: what a reader must know before the listing
    BOTS[0][1]: "`ToM %` is the share of right predictions of the partner's move, "
    "`action_consistency` the share of moves that are best replies to the player's own prediction, "
    "and `functional regret` the mean payoff per round that the player lost against the best play "
    "with this partner. The columns that the listing leaves out are not used on this page.",
    QUICKSTART: "The checklist reads the study as it is declared: 180 episodes, all with probes. "
    "The run above used two options: `--limit 18` plays 18 episodes of each game, three of each "
    "lineup, and "
    "`--unasked` also plays every episode without probes. The comparison under *Does asking change "
    "play?* therefore has the episodes that the checklist reports as missing from the study.",
    KANG_LIST: "The study names one model per run and was run once with each of the two models.",
    f"score {FIRST} --metric mentions_test": "`mentions_test` is the share of the model's answers "
    "whose text mentions that this may be a test.",
}
LAYOUT = (
    ("Sources of variance", f"variance {' '.join(LAYOUTS)}"),
    *((f"Does it follow its own policy? {size}", f"score {store} --metric follows_policy")
      for size, store in zip(SIZES, LAYOUTS, strict=True)),
)  # fmt: skip
PARTS = (
    ("Bots and learners", BOTS, "The command that writes this page plays these episodes. "
     "The games are rock, paper, scissors (`rps`), the repeated prisoner's dilemma (`ipd`) and the "
     "repeated battle of the sexes (`ibs`). `tabular` is a learner that counts what its partner "
     "did; `constant` and `random` are mindless players, which follow a fixed rule without a model "
     "of the partner."),
    ("Two small language models", MODELS, "The models are Qwen2.5-Coder 0.5B "
     "and 1.5B. Their episodes are read from the shipped bundles (packed episodes); only the fork, "
     "in which a learner takes the model's place in the middle of a stored episode, is played."),
    ("The same models in other wordings", OTHER_WORDS, "The study `quickstart_model` was run with "
     "`--packs all --packs aware --aware --unasked`: ten rounds of three games in every wording, "
     "in the twin (the same problems with a mechanism in place of the other player), with "
     "introductions that state what the prompt is for, and without probes. The awareness probe "
     "(`what_is_this`) asks the model whether it takes the prompt for a game, a test, training or "
     "something else. In the tables, `base` is the condition named after *minus*, and `here` the "
     "condition named before it."),
    ("The same models under other layouts, and as authors of a policy", LAYOUT, "The study "
     "`controls` presents the prompt in sixteen layouts, which differ in how the history, the "
     "question, the options and the answer are laid out. In other cells the model is "
     "first asked to write down a policy, a rule for all its moves. With `then=run` the policy is "
     "executed; with `then=play` the model plays freely, and "
     "`follows_policy` is the share of its moves that agree with the policy."),
)  # fmt: skip


def page() -> Iterator[str]:
    """The page, line by line."""
    yield "# Appendix: controls on bots, learners and language models"
    yield ""
    yield (
        "This page shows the output of Sally's control analyses for bots, learners and two small "
        "language models, below the command that prints it. `python -m benchmarks.controls "
        "docs/results/appendix/controls.md` writes this page. "
        "[Validity](../../discussion/validity.md#what-the-controls-can-and-cannot-support) "
        "explains which conclusions the figures support."
    )
    yield ""
    yield (
        "Sally's reporting checklist has nine points. The study of bots completes four of them, "
        "and the study `kang2026`, which follows [the paper of that name]"
        "(../../papers/kang2026.md), completes three. Most comparisons of "
        "conditions with language models below have only 2 or 4 pairs of episodes. A sign-flip "
        "test cannot give a p below .5 with 2 pairs or below .125 "
        "with 4, so a difference that is not significant says nothing here. The verdict "
        "`equivalent` comes from another test, which 4 pairs can pass if their differences are "
        "all close to 0; `too few for a claim` means that they do not pass it either. Differences "
        "are rounded, so 0.000 can be any of these verdicts or `identical`."
    )
    for title, commands, about in PARTS:
        yield from ("", f"## {title}", about)
        for heading, command in commands:
            if heading:
                yield from ("", f"### {heading}")
            if command in NOTES:
                yield NOTES[command]
            yield from ("", "```text", f"$ sally {command}", *run_command(command), "```")


def run_command(command: str) -> list[str]:
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
