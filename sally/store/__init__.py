"""Episodes kept: one line an episode, one file a writer, and nothing lost in silence.

A store is a folder, here or at an address that fsspec knows. `study.json` says what it holds,
`studies/` what its runs asked for, `packs/` in which words,
`aliases/` what they called their models. In a local folder a writer appends
whole lines to a file of its own, `<writer>.open`, and renames it to `<writer>.jsonl` when it is
done, so several processes never write to one file and a killed one leaves all but the line it was
writing. At an address it puts immutable parts. A line that cannot be read is copied to
`quarantine/` and reported with file and line. `index.sqlite` keeps what was read off many lines.
"""

from sally.store.episode_offsets import Reader, Standing
from sally.store.index import INDEX, columns, fill, sum_of_lines
from sally.store.lines import migrated, read_line, sound_line, why_wrong
from sally.store.manifest import (
    MANIFEST,
    Manifest,
    aliases,
    claim,
    keep_alias,
    manifest_of,
    read_manifest,
    require,
    studies,
)
from sally.store.people import PEOPLE, PeoplePlan, keep_people_plan, people_plan
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
from sally.store.writing import Ours, TakenOver, Writer, keep_pack, packs_of

__all__ = [
    "INDEX",
    "MANIFEST",
    "PEOPLE",
    "BadLine",
    "Contents",
    "Folder",
    "Manifest",
    "Ours",
    "PeoplePlan",
    "Place",
    "Reader",
    "Remote",
    "Standing",
    "Survey",
    "TakenOver",
    "Where",
    "Writer",
    "aliases",
    "claim",
    "columns",
    "episode_files",
    "fill",
    "has_living_writer",
    "is_address",
    "keep_alias",
    "keep_pack",
    "keep_people_plan",
    "know_packs",
    "lines_of",
    "load",
    "load_file",
    "manifest_of",
    "migrated",
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
