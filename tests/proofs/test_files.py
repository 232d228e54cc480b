"""Files are written whole or not at all."""

import io
import os
import stat
from pathlib import Path

import pytest

from proofs.files import check_directory, check_file, write_file, write_files, write_together
from symbolic.errors import InputError


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_file_is_written_as_it_is(tmp_path: Path) -> None:
    write_file(tmp_path / "a.csv", "é,1\r\n2\n")
    assert (tmp_path / "a.csv").read_bytes() == "é,1\r\n2\n".encode()
    assert names(tmp_path) == ["a.csv"]


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old and longer")
    path.chmod(0o640)
    write_file(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_that_the_user_wants(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_file(tmp_path / "a", "")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_device_is_written_to() -> None:
    write_file(Path(os.devnull), "gone")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_several_files_in_a_new_directory(tmp_path: Path) -> None:
    write_files(tmp_path / "a" / "b", {"x": "1", "y": "2"})
    assert names(tmp_path / "a" / "b") == ["x", "y"]
    write_files(tmp_path / "a" / "b", {"x": "3"})
    assert (tmp_path / "a" / "b" / "x").read_text() == "3"


def assert_one_line(error: pytest.ExceptionInfo[InputError], path: Path) -> None:
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith("cannot write ")
    assert path.name in message
    assert "accepted: " in message


@pytest.mark.parametrize("place", ["file/a", "file/a/b", "directory", "missing/a", "x" * 300])
def test_a_path_that_cannot_be_written(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("kept")
    (tmp_path / "directory").mkdir()
    with pytest.raises(InputError) as error:
        write_file(tmp_path / place, "new")
    if len(place) < 100:
        assert_one_line(error, tmp_path / place)
    assert names(tmp_path) == ["directory", "file"]
    assert (tmp_path / "file").read_text() == "kept"


def test_a_null_byte_in_the_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"):
        write_file(tmp_path / "a\0b", "new")
    assert names(tmp_path) == []


@pytest.mark.parametrize("place", ["file", "file/below", "file/below/that"])
def test_a_directory_that_cannot_be_made(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(InputError) as error:
        write_files(tmp_path / place, {"a": "1"})
    assert_one_line(error, tmp_path / place)
    assert names(tmp_path) == ["file"]


def test_one_bad_path_among_many_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a").write_text("kept")
    with pytest.raises(InputError):
        write_files(tmp_path, {"a": "new", "b": "cannot be", "c": "new"})
    assert (tmp_path / "a").read_text() == "kept"
    assert names(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), SystemExit(1)])
@pytest.mark.parametrize("stage", ["write_bytes", "open", "chmod"])
def test_an_interruption_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, error: BaseException
) -> None:
    (tmp_path / "a").write_text("kept")
    (tmp_path / "b").write_text("kept")
    original, calls = getattr(Path, stage), []

    def interrupted(self: Path, *arguments: object, **options: object) -> object:
        calls.append(self)
        if len(calls) == 2:
            done = original(self, *arguments, **options)
            if isinstance(done, io.IOBase):
                done.close()
            raise error
        return original(self, *arguments, **options)

    monkeypatch.setattr(Path, stage, interrupted)
    with pytest.raises(type(error)):
        write_files(tmp_path, {"a": "new", "b": "new"})
    monkeypatch.undo()
    assert names(tmp_path) == ["a", "b"]
    assert {(tmp_path / name).read_text() for name in ("a", "b")} == {"kept"}


def test_an_interruption_takes_the_new_directory_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path / "a" / "b", {"x": "1"})
    assert names(tmp_path) == []


def test_a_failing_disk_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="no space left on device"):
        write_file(tmp_path / "a", "1")
    assert names(tmp_path) == []


def test_checks_tell_what_cannot_be_written_and_leave_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    check_file(tmp_path / "new.json")
    check_file(tmp_path / "file")
    check_directory(tmp_path / "deep" / "er")
    for check, path in (
        (check_file, tmp_path / "file" / "x"),
        (check_file, tmp_path),
        (check_file, tmp_path / "absent" / "x"),
        (check_directory, tmp_path / "file"),
        (check_directory, tmp_path / "file" / "x"),
    ):
        with pytest.raises(InputError, match="cannot write"):
            check(path)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    contents = bytes(range(256))
    write_file(tmp_path / "a.npz", contents)
    assert (tmp_path / "a.npz").read_bytes() == contents


def test_files_in_several_places_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a").write_text("kept")
    with pytest.raises(InputError, match="absent"):
        write_together({tmp_path / "x" / "a": "new", tmp_path / "absent" / "b": b"new"})
    assert (tmp_path / "x" / "a").read_text() == "kept"
    write_together({tmp_path / "x" / "a": "new", tmp_path / "b": b"bytes"})
    assert (tmp_path / "x" / "a").read_text() == "new"
    assert (tmp_path / "b").read_bytes() == b"bytes"
    assert names(tmp_path) == ["b", "x"]
    assert names(tmp_path / "x") == ["a"]
