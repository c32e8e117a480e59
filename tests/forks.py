"""Tests side by side, in forks of one process that has gathered them.

`pytest -p tests.forks --forks 3` loads every library and gathers ten thousand tests once. Workers
that start from nothing, as those of pytest-xdist, each do all of that again. A fork asks for its
next group when it begins the last test of the one it has: so it knows what to tear down between
them. Reports go to the process that gathered, which tells of them as pytest does.
"""

from __future__ import annotations

import atexit
import os
import signal
import traceback
from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, NoReturn
from warnings import WarningMessage

import pytest

from tests.order import group


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many."""
    parser.addoption("--forks", type=int, default=0, help="run the tests in so many processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Hand the tests out instead of running them here."""
    option = session.config.option
    if option.forks < 1 or option.collectonly or option.usepdb or session.testsfailed:
        return None
    forks = Forks(session)
    try:
        forks.run(option.forks)
    finally:
        forks.kill()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    return True


@dataclass
class Fork:
    """A process that runs tests, seen from the one that gathered them."""

    pid: int
    pipe: Connection
    given: deque[int] = field(default_factory=deque)  # places of tests it has not finished
    done: bool = False


class Forks:
    """Those who run tests, and the tests that nobody runs yet."""

    def __init__(self, session: pytest.Session) -> None:
        self._session, self._hook = session, session.config.hook
        groups: dict[str, list[int]] = {}
        for index, item in enumerate(session.items):
            groups.setdefault(group(item.nodeid), []).append(index)
        self._waiting = deque(groups.values())
        self._running: dict[Connection, Fork] = {}
        self._started = 0

    def run(self, count: int) -> None:
        """Run every test, unless too many have failed."""
        self._session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        for _ in range(min(count, len(self._waiting))):
            self._start()
        while self._running:
            for pipe in wait(list(self._running)):
                fork = self._running[pipe]  # type: ignore[index]
                try:
                    told, what = fork.pipe.recv()
                except EOFError:
                    self._ended(fork)
                else:
                    getattr(self, f"_{told}")(fork, what)

    def kill(self) -> None:
        """Leave nobody behind."""
        for fork in self._running.values():
            os.kill(fork.pid, signal.SIGKILL)
            os.waitpid(fork.pid, 0)

    def _start(self) -> None:
        self._started += 1
        ours, theirs = Pipe()
        if not (pid := os.fork()):
            for pipe in (ours, *self._running):
                pipe.close()  # or nobody would see that the other end is gone
            Running(self._session, theirs, self._started).run()
        theirs.close()
        self._running[ours] = Fork(pid, ours)

    # --- what a fork tells -------------------------------------------------------------------

    def _next(self, fork: Fork, _: None) -> None:
        stop = self._session.shouldfail or self._session.shouldstop or not self._waiting
        more = [] if stop else self._waiting.popleft()
        fork.given.extend(more)
        fork.pipe.send(more)

    def _warning(self, fork: Fork, about: dict[str, Any]) -> None:
        self._hook.pytest_warning_recorded.call_historic(kwargs=about)

    def _ran(self, fork: Fork, reports: list[Any]) -> None:
        item = self._session.items[fork.given.popleft()]
        self._hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in reports:
            self._hook.pytest_runtest_logreport(report=self._read(report))
        self._hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _read(self, report: Any) -> pytest.TestReport:
        if isinstance(report, pytest.TestReport):
            return report
        config = self._session.config
        read: pytest.TestReport = self._hook.pytest_report_from_serializable(
            config=config, data=report
        )
        return read

    def _done(self, fork: Fork, _: None) -> None:
        fork.given.clear()
        fork.done = True

    def _ended(self, fork: Fork) -> None:
        """It has no more to do; or it died, and another one does the rest."""
        _, status = os.waitpid(fork.pid, 0)
        del self._running[fork.pipe]
        if fork.done:
            return
        reason = f"the process that ran it ended with {os.waitstatus_to_exitcode(status)}"
        if not fork.given:
            raise RuntimeError(reason.replace("that ran it", "for tests"))
        item = self._session.items[fork.given.popleft()]
        dead = pytest.TestReport(item.nodeid, item.location, {}, "failed", reason, "call")
        self._hook.pytest_runtest_logreport(report=dead)
        if fork.given:
            self._waiting.appendleft(list(fork.given))
        if self._waiting:
            self._start()


class Running:
    """A fork, seen from within."""

    def __init__(self, session: pytest.Session, pipe: Connection, number: int) -> None:
        self._session, self._pipe, self._number = session, pipe, number
        self._reports: list[Any] = []  # of the test that is run now

    def run(self) -> NoReturn:
        """Run what is given, until there is no more."""
        status = 1
        try:
            self._become()
            self._work()
            self._pipe.send(("done", None))
            atexit._run_exitfuncs()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def _become(self) -> None:
        """A terminal, a capture and a folder are not for two."""
        config = self._session.config
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(self, "fork")
        captures: Any = config.pluginmanager.getplugin("capturemanager")
        captures.stop_global_capturing()
        captures.start_global_capturing()
        captures.suspend_global_capture()
        folders = config._tmp_path_factory  # type: ignore[attr-defined]
        folders._basetemp = folders.mktemp(f"fork{self._number}", numbered=False)

    def _work(self) -> None:
        items, hook = self._session.items, self._session.config.hook
        ask_record = self._asked()
        while ask_record and not self._session.shouldfail:
            at = ask_record.pop(0)
            if not ask_record:
                ask_record = self._asked()
            self._reports.clear()
            follows = items[ask_record[0]] if ask_record else None
            hook.pytest_runtest_protocol(item=items[at], nextitem=follows)
            self._pipe.send(("ran", self._reports))
        self._session._setupstate.teardown_exact(None)  # what stands if it stopped early

    def _asked(self) -> list[int]:
        self._pipe.send(("next", None))
        more_numbers: list[int] = self._pipe.recv()
        return more_numbers

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep it until the test is over; one that tells of objects here is written out."""
        config = self._session.config
        plain = report.longrepr is None and not report.user_properties
        written = config.hook.pytest_report_to_serializable
        self._reports.append(report if plain else written(config=config, report=report))

    def pytest_warning_recorded(
        self, warning_message: WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        """Pass it on, without what cannot leave a process."""
        seen_warning_message = warning_message
        told_warning_message = WarningMessage(
            str(seen_warning_message.message),
            seen_warning_message.category,
            seen_warning_message.filename,
            seen_warning_message.lineno,
        )
        about = {
            "warning_message": told_warning_message,
            "when": when,
            "nodeid": nodeid,
            "location": location,
        }
        self._pipe.send(("warning", about))
