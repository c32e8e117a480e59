"""The command line: one file per group of commands."""

from __future__ import annotations

import sys

import click

from sally import __version__
from sally.cli.checking import check
from sally.cli.common import Commands, use_files
from sally.cli.comparing import compare
from sally.cli.crossplaying import crossplay_
from sally.cli.demo import demo
from sally.cli.doctor import doctor
from sally.cli.exporting import export
from sally.cli.importing import import_
from sally.cli.listing import list_
from sally.cli.packing import pack
from sally.cli.pages import report
from sally.cli.papers import audit, reproduce
from sally.cli.people import people
from sally.cli.planning import plan
from sally.cli.playing import play
from sally.cli.profiling import profile
from sally.cli.reading import replay, score, show
from sally.cli.running import run
from sally.cli.serving import serve
from sally.cli.watching import watch
from sally.core.errors import BadInput, RunFailed
from sally.output.console import console


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="sally")
@click.option(
    "--use",
    "files",
    multiple=True,
    type=click.Path(),
    help="A Python file whose game, partners, metric or study goes on the shelf.",
)
def cli(files: tuple[str, ...]) -> None:
    """Sally: play games of minds, log them, replay them, read them."""
    use_files(files)


for command in (
    list_,
    play,
    plan,
    run,
    watch,
    score,
    profile,
    compare,
    export,
    report,
    pack,
    replay,
    show,
    reproduce,
    audit,
    check,
    doctor,
    demo,
    crossplay_,
    import_,
    serve,
    people,
):
    cli.add_command(command)


def main() -> None:
    """Run a command; bad input is one sentence and exit code 2."""
    try:
        cli(standalone_mode=False)
    except RunFailed as why:
        _fail(f"{why} What was finished is stored.", 1)
    except BadInput as why:
        _fail(str(why), 2)
    except click.ClickException as why:
        _fail(why.format_message(), 2)
    except (click.Abort, KeyboardInterrupt):
        _fail("Stopped. What was finished is stored; the same command goes on from there.", 130)
    except BrokenPipeError:
        sys.stderr.close()


def _fail(sentence: str, code: int) -> None:
    said = console(stderr=True)
    said.print(f"sally: {sentence}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(code)
