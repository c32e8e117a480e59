"""Processor time of tests: `python -m pytest -p tests.processor_time --times FILE [PATH ...]`.

For each test a line of JSON is added to the file: seconds of this process and of the commands that
it started and that ended meanwhile, and the name of the test. `python -m tests.processor_time FILE`
prints the sum of each test file. A browser and a kernel end with the last test that needs them and
are counted there; commands of `tests.fixtures.warm` are not counted.
"""

from __future__ import annotations

import json
import resource
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from time import process_time

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the file."""
    parser.addoption("--times", type=Path, help="add the processor time of every test to a file")


def used() -> float:
    """Return the seconds of processor that this process and its ended commands have used."""
    commands = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + commands.ru_utime + commands.ru_stime


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure a test with its fixtures."""
    start = used()
    result = yield
    if file := item.config.getoption("times"):
        with file.open("a", encoding="utf-8") as lines:  # forks write to the same file
            lines.write(json.dumps([round(used() - start, 4), item.nodeid]) + "\n")
    return result


def main(file: str) -> None:
    """Print the seconds of each test file, the longest first."""
    seconds: Counter[str] = Counter()
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        value, name = json.loads(line)
        seconds[name.split("::")[0]] += value
    for name, total in seconds.most_common():
        print(f"{total:8.1f}  {name}")
    print(f"{seconds.total():8.1f}  in all")


if __name__ == "__main__":
    main(sys.argv[1])
