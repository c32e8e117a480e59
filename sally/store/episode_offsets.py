"""File and line of every episode of a store, so that episodes can be read on demand."""

from __future__ import annotations

from array import array
from io import BytesIO

from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.registry.fingerprint import fingerprint
from sally.store.index import columns
from sally.store.lines import sound_line
from sally.store.places import Folder, Where, place
from sally.store.reading import BadLine, all_lines, open_lines
from sally.store.summary import COLUMN, noted, noted_lines


class Reader:
    """A reader of single lines of an unchanged store; the last file read stays in memory."""

    def __init__(self, where: Where) -> None:
        self._at = place(where)
        self._open: tuple[str, bytes, list[int]] = ("", b"", [])  # name, bytes and line offsets

    def episode(self, file: str, line: int, id: str) -> Episode:
        """Return the episode with this id from a line.

        Raises:
            BadInput: The line was changed after the store was loaded.
        """
        whole, starts = self._read(file)
        there = whole[starts[line - 1] : starts[line]] if line < len(starts) else b""
        found = sound_line(there)
        if not isinstance(found, Episode) or found.id != id:
            raise BadInput(
                f"Line {line} of {file} in {self._at} was changed after the store was loaded; "
                "load it again."
            )
        return found

    def _read(self, file: str) -> tuple[bytes, list[int]]:
        """Return the bytes of a file, and the offsets of its lines and of its end."""
        if self._open[0] != file:
            if isinstance(self._at, Folder):
                with open_lines(self._at.path / file) as lines:
                    whole = lines.read()
            else:
                whole = b"".join(line for _, _, line in all_lines(self._at, [file]))
            starts, end = [0], 0
            for line in BytesIO(whole):
                starts.append(end := end + len(line))
            self._open = file, whole, starts
        return self._open[1], self._open[2]


class EpisodeOffsets:
    """The ids of a store's episodes in order, with the file and line of each."""

    def __init__(self, where: Where) -> None:
        self.ids: list[str] = []
        self.bad: list[BadLine] = []
        self._at, self._files = place(where), list[str]()
        self._file, self._line = array("l"), array("l")
        self._places: dict[str, int] = {}
        self._reader = Reader(where)
        self._find()

    def __len__(self) -> int:
        return len(self.ids)

    def place_of(self, id: str) -> int | None:
        """Return the number of the episode with this id, or None."""
        return self._places.get(id)

    def episode(self, number: int) -> Episode:
        """Read one episode of the unchanged store."""
        file = self._files[self._file[number]]
        return self._reader.episode(file, self._line[number], self.ids[number])

    def _find(self) -> None:
        """Locate every episode; a finished run of an episode replaces a censored one, as in
        `load`."""
        files: dict[str, int] = {}
        cut: set[str] = set()
        for at, kept in columns(self._at, [COLUMN], fingerprint(), noted_lines):
            found = noted(kept[COLUMN])
            each = zip(at, found.ids, found.cut, found.why, strict=True)
            for (file, line), id, is_cut, why in each:
                if not id:
                    self.bad.append(BadLine(file, line, why))
                elif (there := self._places.get(id)) is None:
                    self._places[id] = len(self.ids)
                    self.ids.append(id)
                    self._file.append(files.setdefault(file, len(files)))
                    self._line.append(line)
                    if is_cut:
                        cut.add(id)
                elif id in cut:
                    self._file[there] = files.setdefault(file, len(files))
                    self._line[there] = line
                    if not is_cut:
                        cut.discard(id)
        self._files = list(files)
