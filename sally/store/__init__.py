"""Stores of episodes: one line per episode, one file per writer.

A store is a local folder or an address that fsspec supports. `study.json` names its study,
`studies/` holds the studies of its runs, `packs/` their words packs, `settings/` the settings of
their models. In a local folder each writer appends whole lines to its own file `<writer>.open` and
renames it to `<writer>.jsonl` at the end, so no two processes write to one file, and a killed
process loses at most the line it was writing. At an address a writer uploads immutable parts. An
unreadable line is copied to `quarantine/` and reported with file and line.
"""

from sally.store.lines import read_line, sound_line, why_wrong
from sally.store.manifest import (
    MANIFEST,
    PEOPLE,
    Manifest,
    PeoplePlan,
    claim,
    keep_people_plan,
    keep_settings,
    manifest_of,
    people_plan,
    read_manifest,
    require,
    studies,
)
from sally.store.places import Folder, Place, Remote, Where, is_address, place
from sally.store.reader import (
    DONE,
    BadLine,
    Contents,
    all_lines,
    by_writer,
    each_episode,
    episode_files,
    has_living_writer,
    know_packs,
    lines_of,
    load,
    load_file,
    open_lines,
    quarantine_lines,
    read,
    ready,
    reason,
    to_run_again,
)
from sally.store.survey import Survey, survey
from sally.store.writer import Ours, TakenOver, Writer, check_storable, keep_pack, packs_of

__all__ = [
    "DONE",
    "MANIFEST",
    "PEOPLE",
    "BadLine",
    "Contents",
    "Folder",
    "Manifest",
    "Ours",
    "PeoplePlan",
    "Place",
    "Remote",
    "Survey",
    "TakenOver",
    "Where",
    "Writer",
    "all_lines",
    "by_writer",
    "check_storable",
    "claim",
    "each_episode",
    "episode_files",
    "has_living_writer",
    "is_address",
    "keep_pack",
    "keep_people_plan",
    "keep_settings",
    "know_packs",
    "lines_of",
    "load",
    "load_file",
    "manifest_of",
    "open_lines",
    "packs_of",
    "people_plan",
    "place",
    "quarantine_lines",
    "read",
    "read_line",
    "read_manifest",
    "ready",
    "reason",
    "require",
    "sound_line",
    "studies",
    "survey",
    "to_run_again",
    "why_wrong",
]
