"""Stores of episodes: one line per episode, one file per writer.

A store is a local folder or an address that fsspec supports. `study.json` names its study,
`studies/` holds the studies of its runs, `packs/` their words packs, `settings/` the settings of
their models. In a local folder each writer appends whole lines to its own file `<writer>.open` and
renames it to `<writer>.jsonl` at the end, so no two processes write to one file, and a killed
process loses at most the line it was writing. At an address a writer uploads immutable parts. An
unreadable line is copied to `quarantine/` and reported with file and line. `index.sqlite` caches
columns computed from the lines.
"""

from sally.store.episode_offsets import EpisodeOffsets, Reader
from sally.store.index import INDEX, columns, fill, sum_of_lines
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
from sally.store.reading import (
    BadLine,
    Contents,
    episode_files,
    has_living_writer,
    know_packs,
    lines_of,
    load,
    load_file,
    quarantine_lines,
    read,
    reason,
    to_run_again,
)
from sally.store.summary import Survey, survey
from sally.store.writing import Ours, TakenOver, Writer, check_storable, keep_pack, packs_of

__all__ = [
    "INDEX",
    "MANIFEST",
    "PEOPLE",
    "BadLine",
    "Contents",
    "EpisodeOffsets",
    "Folder",
    "Manifest",
    "Ours",
    "PeoplePlan",
    "Place",
    "Reader",
    "Remote",
    "Survey",
    "TakenOver",
    "Where",
    "Writer",
    "check_storable",
    "claim",
    "columns",
    "episode_files",
    "fill",
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
    "packs_of",
    "people_plan",
    "place",
    "quarantine_lines",
    "read",
    "read_line",
    "read_manifest",
    "reason",
    "require",
    "sound_line",
    "studies",
    "sum_of_lines",
    "survey",
    "to_run_again",
    "why_wrong",
]
