"""A PostgreSQL server of one's own, in a folder that is gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def programs() -> Path | None:
    """Where PostgreSQL's programs are: on the path, or where Debian puts them."""
    if initdb := shutil.which("initdb"):
        return Path(initdb).parent
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return places[-1].parent if places else None


@contextmanager
def local_postgres(durable: bool = True) -> Iterator[str]:
    """The address of a fresh server that listens at a socket in its own folder.

    One that need not be durable waits for no disk: it outlives its clients, not a power cut.
    """
    bin = programs()
    if bin is None:
        raise FileNotFoundError("initdb")
    folder = Path(tempfile.mkdtemp(prefix="sally-postgres-"))
    user_options = _server_user(folder)
    server: subprocess.Popen[bytes] | None = None
    try:
        data = folder / "data"
        subprocess.run(
            [
                bin / "initdb",
                "-N",
                "-D",
                data,
                "-U",
                "sally",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            **user_options,
        )
        lax = [] if durable else ["-c", "fsync=off", "-c", "full_page_writes=off"]
        server = subprocess.Popen(
            [bin / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", *lax],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            **user_options,
        )
        address = f"postgresql:///postgres?host={folder}&user=sally"
        _wait(address, server)
        yield address
    finally:
        if server is not None:
            server.send_signal(signal.SIGINT)  # a fast and orderly shutdown
            server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _server_user(folder: Path) -> dict[str, Any]:
    """Return the user that runs PostgreSQL, which refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    users = {entry.pw_name for entry in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in users else "nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _wait(address: str, server: subprocess.Popen[bytes], seconds: float = 60.0) -> None:
    import psycopg

    until = time.monotonic() + seconds
    while True:
        try:
            psycopg.connect(address).close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.02)
