"""The work of one of several processes that build tables."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from sally import store
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.frames.parallel import Job
from sally.frames.parts import File


def work() -> None:
    """Build the tables of the jobs on standard input; write the sentence of an error."""
    jobs = msgspec.json.decode(sys.stdin.buffer.read(), type=list[Job])
    try:
        for path in jobs[0].uses:
            registry.add_file(Path(path))
        place = store.place(Path(jobs[0].store))
        store.know_packs(place)
        for job in jobs:
            File(place, job.files, job.digest).measure(job.table, job.columns)
    except BadInput as error:
        sys.stdout.write(str(error))
