"""Errors whose message is one clear sentence: what is wrong, where, and what would be right."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches


class BadInput(ValueError):
    """Invalid input from the user; the message is shown unchanged."""


class StoreFailed(BadInput):
    """A store cannot be written although its location is valid: full disk or input/output error."""


class RunFailed(Exception):
    """A run could not continue for a reason other than the user's input; the message says why."""


class IllegalMove(BadInput):
    """An answer that the rules do not allow at this point; the match is unchanged."""


class NotAsked(BadInput):
    """An answer that is out of turn or repeated, or whose ask is unknown: no such ask is open."""


class PromptDiffers(Exception):
    """A replayed call whose prompt differs from the logged one."""


class Unreadable(ValueError):
    """A reply without a readable legal answer; the message tells the player how to answer."""


class TooLong(Unreadable):
    """A reply longer than the reader accepts."""


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG})


def not_written(failure: str, error: OSError) -> BadInput:
    """Return the error for something that could not be written.

    The error is a StoreFailed if the disk is full or broken, which is not the user's mistake.
    """
    kind = StoreFailed if error.errno in FULL else BadInput
    return kind(f"{failure}: {error.strerror or error}.")


MANY = 30  # names that an error no longer lists
LONGEST_NAME = 200  # characters of an unknown name that an error repeats


def unknown(kind: str, name: str, known_names: Iterable[str]) -> BadInput:
    """Return the error for an unknown name, with the nearest known names."""
    names = sorted(known_names, key=_by_number)
    name = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."
    close = get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return BadInput(
            f"There is no {kind} named {name!r}; did you mean {join_names(close, 'or')}?"
        )
    if not names:
        return BadInput(f"There is no {kind} named {name!r}; none are registered.")
    if len(names) > MANY:
        nearest = get_close_matches(name, names, n=3, cutoff=0.0) or names[:3]
        return BadInput(
            f"There is no {kind} named {name!r}; the nearest of {len(names)} are "
            f"{join_names(nearest)}."
        )
    return BadInput(
        f"There is no {kind} named {name!r}; the known names are {join_names(names, 'and')}."
    )


def install_command(extra: str = "") -> str:
    """Return the pip command that installs Sally with an extra.

    The package is not on the package index, so the command names the folder of the clone from which
    Sally was installed, or the current folder.
    """
    import json  # these are slow to import, and needed by an error only
    from importlib import metadata
    from pathlib import Path
    from urllib.parse import unquote, urlsplit

    try:
        origin = metadata.distribution("sally-lab").read_text("direct_url.json") or "{}"
    except metadata.PackageNotFoundError:
        origin = "{}"
    direct_url = json.loads(origin)
    address = str(direct_url.get("url", ""))
    folder = unquote(urlsplit(address).path) if address.startswith("file:") else "."
    mark = "-e " if direct_url.get("dir_info", {}).get("editable") else ""
    pins = Path(folder) / "constraints.txt"  # the versions that Sally is tested with
    pinned = f"-c '{pins}' " if pins.is_file() else ""
    return f"pip install {pinned}{mark}'{folder}{f'[{extra}]' if extra else ''}'"


class NotReady(BadInput):
    """Something outside a study is missing, such as a key or a package; the message does not name
    the place in the study."""


class NotInstalled(ImportError, NotReady):
    """A package that an extra of Sally installs is missing."""


DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # import name -> name on the package index


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Raise NotInstalled, with the command that installs an extra, if an import in the block
    fails."""
    try:
        yield
    except ImportError as error:
        command = install_command(extra)
        if error.name is None:
            message = (
                f"An import failed ({error}); `{command}` installs the packages that it needs."
            )
        else:
            package = DISTRIBUTIONS.get(error.name, error.name)
            message = f"{package} is not installed; `{command}` installs it."
        raise NotInstalled(message, name=error.name) from None


def _by_number(name: str) -> list[tuple[bool, int, str]]:
    """Return a sort key that puts 2 before 10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(not p.isdigit(), int(p) if p.isdigit() else 0, p) for p in parts]


def join_names(names: Iterable[str], last: str = "and") -> str:
    """Join names in a sentence: `a`, `a and b`, `a, b and c`."""
    *head, tail = [str(n) for n in names] or ["nothing"]
    return f"{', '.join(head)} {last} {tail}" if head else tail


WRONG_TYPE = re.compile(r"Expected `([^`]+?)(?: \| null)?`(?: of length (\d+))?, got (.+)")
TYPES = {  # of msgspec, in words
    "str": "a text in quotes",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "date": "a date",
    "time": "a time",
    "datetime": "a date and time",
}


def explain_schema_fault(message: str) -> str:
    """Return msgspec's message about a file with the key moved to the front and types in words, as
    a sentence without its full stop.

    >>> explain_schema_fault("Expected `array`, got `int` - at `$.cells`")
    'cells must be a list, not a whole number'
    """
    text, separator, address = message.partition(" - at `$")
    place = address.rstrip("`").lstrip(".").replace("[...]", "")
    text = re.sub(r"^Object missing required field (`\w+`)", r"the key \1 is missing", text)
    text = text.rstrip(".")
    if separator and (fault := WRONG_TYPE.fullmatch(text)):
        expected = join_names([TYPES.get(name, name) for name in fault[1].split(" | ")], "or")
        if fault[2]:
            return f"{place} must be {expected} of {fault[2]} values, not {fault[3]}"
        return f"{place} must be {expected}, not {TYPES.get(fault[3].strip('`'), fault[3])}"
    return f"{place}: {text}" if separator and place else text
