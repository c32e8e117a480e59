"""The command line: one module per group of commands, imported when a command in it is called."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

try:
    from sally import DISTRIBUTION, __version__
except ImportError:
    # Another project on the package index is called `sally`. Installing it after ours overwrites
    # `sally/__init__.py`, and later imports would fail with an unrelated message.
    sys.exit(
        "sally: another package called sally is installed over this one; "
        "`pip uninstall sally sally-lab`, then `pip install .` in the clone of Sally."
    )
from sally.cli.group import Commands
from sally.core.errors import FULL, BadInput, RunFailed, StoreFailed, unknown

INCOMPLETE = 3  # exit code of a run with missing episodes, or without any result


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.help_option("-h", "--help", hidden=True)  # its reader has found it
@click.version_option(__version__, prog_name=DISTRIBUTION)
@click.option(
    "--use",
    "files",
    multiple=True,
    type=click.Path(),
    help="Also load a Python file or folder: a game, a metric, a study.",
)
def cli(files: tuple[str, ...]) -> None:
    """Sally: play, log, replay and analyse games about other minds."""
    if files:
        from sally.core.registry import registry

        for file in files:
            registry.add_file(Path(file))


def main() -> None:
    """Run a command and exit with its code: see docs/reference/command_line.md."""
    try:
        cli(standalone_mode=False)
    except RunFailed as error:
        _fail(f"{error} The same command plays the missing episodes.", INCOMPLETE)
    except StoreFailed as error:
        _fail(str(error), 1)
    except BadInput as error:
        _fail(str(error), 2)
    except click.ClickException as error:
        _fail_usage(error)
    except (click.Abort, KeyboardInterrupt):
        _fail("Stopped. Finished episodes are stored; run the same command again to continue.", 130)
    except BrokenPipeError:
        sys.stderr.close()
    except Exception as error:  # a defect of ours or of a user's file, whose message may hold a key
        if isinstance(error, OSError) and error.errno in FULL:  # of the output
            _fail(f"The output cannot be written: {error.strerror}.", 1)
        import traceback

        from sally.core.redaction import scrub

        sys.stderr.write(scrub(traceback.format_exc()))
        sys.exit(1)


def _fail_usage(error: click.ClickException) -> None:
    """Exit with 2: after the help of a group without a command, or with the nearest commands."""
    context, message = getattr(error, "ctx", None), error.format_message()
    name = re.match(r"No such command '([^']*)'", message)
    if context is not None and message == context.get_help():
        from sally.core.terminal_text import echo

        echo(message, err=True)
        sys.exit(2)
    if name and isinstance(context, click.Context) and isinstance(context.command, click.Group):
        names = context.command.list_commands(context)
        message = str(unknown(f"command of sally {context.info_name}", name[1], names))
    _fail(message, 2)


def _fail(sentence: str, code: int) -> None:
    from sally.output.tables.console import console, harmless

    stderr = console(stderr=True)
    stderr.print(
        f"sally: {harmless(sentence)}", style="red", markup=False, highlight=False, soft_wrap=True
    )
    sys.exit(code)
