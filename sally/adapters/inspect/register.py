"""A study's entry in the register of Inspect Evals (`register/NAME/eval.yaml`).

The fields are those of `ExternalEvalMetadata` in inspect-evals 0.26.0. Repository and commit are
options, because only the publisher knows them.
"""

from __future__ import annotations

import json
import re
from typing import Any

import click
import msgspec

from sally.adapters.inspect import registry as inspect_registry
from sally.analysis.compare import published_figures
from sally.core.errors import BadInput, unknown
from sally.core.registry import registry
from sally.core.registry.study import Study
from sally.core.terminal_text import echo

TASK_FILE = "sally/adapters/inspect/registry.py"  # where Inspect's entry point finds the tasks


def entry(
    name: str, repository: str, commit: str, contributors: tuple[str, ...], arxiv: str = ""
) -> dict[str, Any]:
    """Return the register entry of one study.

    Raises:
        BadInput: An argument is not valid.
    """
    if name not in inspect_registry.TASKS:
        raise unknown("study", name, inspect_registry.TASKS)
    if not re.fullmatch(r"https://[^/\s]+/[^/\s]+/\S+", repository):
        raise BadInput(
            f"{repository!r} is not a repository address such as https://HOST/OWNER/NAME."
        )
    if not re.fullmatch(r"[0-9a-f]{40}", commit):
        raise BadInput(f"{commit!r} is not a commit hash of 40 hexadecimal digits.")
    if not contributors:
        raise BadInput("Name at least one contributor.")
    study = registry.study(name)
    fields: dict[str, Any] = {
        "full_title": f"{title(study)} (Sally)",
        "common_title": f"Sally {name}",
        "description": " ".join(about(study).split()),
        "contributors": list(contributors),
        "tags": ["theory of mind", "games", "multi-turn"],
        "tasks": [{"name": name, "dataset_samples": samples(study), "task_path": TASK_FILE}],
        "source": {"repository_url": repository, "repository_commit": commit},
    }
    return fields | ({"arxiv": arxiv} if arxiv else {})


def title(study: Study) -> str:
    """Return the title of the study's paper, or the study's description."""
    if study.paper in published_figures.papers():
        return published_figures.load(study.paper).citation.title
    return study.about or study.name


def about(study: Study) -> str:
    """Return a one-sentence description of a study."""
    games = sorted({cell.instances[0].game for cell in study.cells if cell.instances})
    description = (
        registry.paper(study.paper).about
        if study.paper in registry.entries("papers")
        else study.about
    )
    return f"Interactive theory of mind: {description.rstrip('.?')}, in {', '.join(games)}."


def samples(study: Study) -> int:
    """Return the number of samples: the episodes of the study if each open seat has one model."""
    return len({msgspec.json.encode(setup, order="sorted") for _, setup in study.trials()})


@click.command()
@click.argument("study")
@click.option("--repository", required=True, help="Public address of the repository.")
@click.option("--commit", required=True, help="Hash of the commit that the entry refers to.")
@click.option(
    "--contributor",
    "contributors",
    multiple=True,
    help="User name of a contributor; may be repeated.",
)
@click.option("--arxiv", default="", help="Address of the paper on arXiv.")
def main(
    study: str, repository: str, commit: str, contributors: tuple[str, ...], arxiv: str
) -> None:
    """Print the entry of STUDY for the register of Inspect Evals as YAML."""
    try:
        fields = entry(study, repository, commit, contributors, arxiv)
    except BadInput as error:
        raise click.ClickException(str(error)) from None
    for key, value in fields.items():  # JSON values are valid YAML
        echo(f"{key}: {json.dumps(value, ensure_ascii=False)}")


if __name__ == "__main__":
    main()
