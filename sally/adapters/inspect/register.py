"""The entry of a study for the register of Inspect Evals: `register/NAME/eval.yaml` there.

The fields are those that `ExternalEvalMetadata` of inspect-evals 0.26.0 asks for. An entry points
at a public repository and a commit of it, which only whoever publishes knows; so they are asked.
"""

from __future__ import annotations

import json
import re
from typing import Any

import click
import msgspec

from sally.adapters.inspect import registry as inspect_registry
from sally.analysis.compare import published
from sally.core.errors import BadInput, unknown
from sally.core.registry import registry
from sally.core.registry.study import Study

TASK_FILE = "sally/adapters/inspect/registry.py"  # where Inspect's entry point finds the tasks


def entry(
    name: str, repository: str, commit: str, contributors: tuple[str, ...], arxiv: str = ""
) -> dict[str, Any]:
    """What the register wants to know of one study: a task is an entry of its own there."""
    if name not in inspect_registry.TASKS:
        raise unknown("study", name, inspect_registry.TASKS)
    if not re.fullmatch(r"https://[^/\s]+/[^/\s]+/\S+", repository):
        raise BadInput(f"{repository!r} is no address of a repository, https://HOST/OWNER/NAME.")
    if not re.fullmatch(r"[0-9a-f]{40}", commit):
        raise BadInput(f"{commit!r} is no commit: forty hexadecimal digits.")
    if not contributors:
        raise BadInput("The register names at least one contributor.")
    study = registry.study(name)
    found: dict[str, Any] = {
        "full_title": f"{title(study)} (Sally)",
        "common_title": f"Sally {name}",
        "description": " ".join(about(study).split()),
        "contributors": list(contributors),
        "tags": ["theory of mind", "games", "multi-turn"],
        "tasks": [{"name": name, "dataset_samples": samples(study), "task_path": TASK_FILE}],
        "source": {"repository_url": repository, "repository_commit": commit},
    }
    return found | ({"arxiv": arxiv} if arxiv else {})


def title(study: Study) -> str:
    """The title of the study's paper, or what the study says of itself."""
    if study.paper in published.papers():
        return published.load(study.paper).citation.title
    return study.about or study.name


def about(study: Study) -> str:
    """A sentence for a list of evaluations."""
    games = sorted({cell.instances[0].game for cell in study.cells if cell.instances})
    said = (
        registry.paper(study.paper).about
        if study.paper in registry.entries("papers")
        else study.about
    )
    return f"Interactive theory of mind: {said.rstrip('.?')}, in {', '.join(games)}."


def samples(study: Study) -> int:
    """The episodes of the study with one model in every open seat; each is a sample."""
    return len({msgspec.json.encode(setup, order="sorted") for _, setup in study.trials()})


@click.command()
@click.argument("study")
@click.option("--repository", required=True, help="The public address of this project.")
@click.option("--commit", required=True, help="The commit that the entry speaks of.")
@click.option("--contributor", "contributors", multiple=True, help="A name on the host.")
@click.option("--arxiv", default="", help="The address of the paper, if it is there.")
def main(
    study: str, repository: str, commit: str, contributors: tuple[str, ...], arxiv: str
) -> None:
    """Print the entry of STUDY for the register of Inspect Evals, as YAML."""
    try:
        found = entry(study, repository, commit, contributors, arxiv)
    except BadInput as why:
        raise click.ClickException(str(why)) from None
    for key, value in found.items():  # a value in JSON is YAML, too
        click.echo(f"{key}: {json.dumps(value, ensure_ascii=False)}")


if __name__ == "__main__":
    main()
