"""Writing a file through a temporary one."""

import os
from pathlib import Path
from threading import Thread

import pytest

from sally.core.errors import BadInput
from sally.output.files.new_file import new_file
from sally.output.page.log_comparison import write_comparison


def put(path: Path, text: str = "new") -> None:
    with new_file(path, "page") as unfinished:
        unfinished.write_text(text)


def test_symbolic_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "page.html", tmp_path / "link.html"
    link.symlink_to(target)
    for text in ("first", "second"):  # the target is missing, then exists
        put(link, text)
        assert link.is_symlink() and target.read_text() == text
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("mode", [0o640, 0o600, 0o666])
def test_replaced_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    page = tmp_path / "page.html"
    page.touch()
    page.chmod(mode)
    put(page)
    assert page.stat().st_mode & 0o777 == mode and page.read_text() == "new"


def test_new_file_gets_the_default_mode(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    put(tmp_path / "new" / "page.html")
    assert (tmp_path / "new" / "page.html").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_name_may_have_the_greatest_length(tmp_path: Path) -> None:
    page = tmp_path / ("a" * 250 + ".html")
    put(page)
    assert page.read_text() == "new"


def test_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    put(pipe)
    reader.join(120)
    assert read == ["new"] and pipe.is_fifo()


def test_failed_block_leaves_the_file_unchanged(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("old")
    with pytest.raises(ZeroDivisionError), new_file(page, "page") as unfinished:
        unfinished.write_text("half")
        raise ZeroDivisionError
    assert page.read_text() == "old" and list(tmp_path.iterdir()) == [page]


@pytest.mark.parametrize("path", [".", "..", "/"])
def test_folder_is_refused_with_one_message(path: str) -> None:
    with pytest.raises(BadInput, match=r"The page cannot be written to .*: Is a directory\."):
        write_comparison([], [], Path(path))
