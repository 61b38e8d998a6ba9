"""The kernel cache on disk: what is kept, what is refused, and that nothing goes wrong beside other users of it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

from baracuda.runtime import cache
from baracuda.runtime.cache import cache_info, cached, clear_cache

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "deep" / "cache"
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(path))
    return path


class Build:
    """Counts how often it is called."""

    def __init__(self, payload: bytes = b"machine code") -> None:
        self.payload, self.calls = payload, 0

    def __call__(self) -> bytes:
        self.calls += 1
        return self.payload


def entry(directory: Path) -> Path:
    (only,) = directory.iterdir()
    return only


@pytest.mark.parametrize("payload", [b"", b"x", bytes(range(256)) * 4096])
def test_built_once_then_read(directory: Path, payload: bytes) -> None:
    build = Build(payload)
    assert [cached("cpu", "key", build) for _ in range(3)] == [payload] * 3
    assert build.calls == 1
    assert cache_info() == cache.CacheInfo(directory, 1, entry(directory).stat().st_size)


def test_category_and_key_do_not_run_together(directory: Path) -> None:
    pairs = [("ab", "c"), ("a", "bc"), ("", "abc"), ("abc", ""), ("a", "b\0c"), ("a\0b", "c"), ("a", "\ud800"), ("a", "é")]
    results = [cached(c, k, Build(repr((c, k)).encode())) for c, k in pairs]
    assert len(set(results)) == cache_info().entries == len(pairs)


def test_an_exception_is_passed_on_and_nothing_is_kept(directory: Path) -> None:
    def fail() -> bytes:
        raise ZeroDivisionError("in the compiler")

    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="in the compiler"):
            cached("cpu", "key", fail)
    assert cached("cpu", "key", Build(b"later")) == b"later"
    assert cache_info().entries == 1


def flip(raw: bytes, at: int) -> bytes:
    return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]


@pytest.mark.parametrize("damage", ["empty", "short", "long", "magic", "digest", "payload", "foreign"])
def test_a_damaged_entry_is_rebuilt_and_replaced(directory: Path, damage: str) -> None:
    cached("cpu", "key", Build(b"good"))
    path = entry(directory)
    whole = path.read_bytes()
    path.write_bytes(
        {
            "empty": b"",
            "short": whole[:-1],
            "long": whole + b"\0",
            "magic": flip(whole, 0),
            "digest": flip(whole, 20),
            "payload": flip(whole, len(whole) - 1),
            "foreign": b"not one of ours at all" * 10,
        }[damage]
    )
    build = Build(b"good")
    assert cached("cpu", "key", build) == cached("cpu", "key", build) == b"good"
    assert build.calls == 1
    assert path.read_bytes() == whole


def test_an_entry_under_another_name_is_not_believed(directory: Path) -> None:
    cached("cpu", "one", Build(b"one"))
    first = entry(directory)
    cached("cpu", "two", Build(b"two"))
    (second,) = set(directory.iterdir()) - {first}
    os.replace(first, second)
    assert cached("cpu", "two", Build(b"two")) == b"two"


@posix
def test_a_symlinked_entry_is_replaced_and_its_target_left_alone(directory: Path, tmp_path: Path) -> None:
    cached("cpu", "key", Build(b"good"))
    path = entry(directory)
    target = tmp_path / "target"
    os.replace(path, target)  # a whole, valid entry, but reached through a link
    path.symlink_to(target)
    before = target.read_bytes()
    build = Build(b"good")
    assert cached("cpu", "key", build) == b"good"
    assert build.calls == 1
    assert not path.is_symlink()
    assert target.read_bytes() == before


@posix
def test_a_pipe_or_a_directory_in_the_place_of_an_entry_does_not_hang(directory: Path) -> None:
    cached("cpu", "key", Build(b"good"))
    path = entry(directory)
    path.unlink()
    os.mkfifo(path)
    assert cached("cpu", "key", Build(b"good")) == b"good"
    assert path.is_file()
    path.unlink()
    path.mkdir()
    assert cached("cpu", "key", Build(b"good")) == b"good"  # it cannot be replaced, and that breaks nothing
    assert [p.name for p in directory.iterdir()] == [path.name]


@posix
def test_modes(directory: Path) -> None:
    cached("cpu", "key", Build())
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(directory).stat().st_mode) == 0o600


@posix
@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777, 0o1777])
def test_a_directory_that_others_may_write_to_is_refused(directory: Path, mode: int) -> None:
    directory.mkdir(parents=True)
    directory.chmod(mode)
    build = Build()
    with pytest.warns(UserWarning, match=rf"{directory} .*mode {mode:04o}"):
        assert cached("cpu", "key", build) == build.payload
    with warnings.catch_warnings():  # once is enough
        warnings.simplefilter("error")
        assert cached("cpu", "key", build) == build.payload
        assert cache_info() == cache.CacheInfo(None, 0, 0)
        assert clear_cache() == 0
    assert build.calls == 2
    assert not list(directory.iterdir())


@posix
def test_a_directory_of_another_user_is_refused(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached("cpu", "key", Build(b"planted"))
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.warns(UserWarning, match=f"belongs to user {owner}"):
        assert cached("cpu", "key", Build(b"own")) == b"own"


@posix
def test_an_entry_that_others_may_write_to_is_rebuilt(directory: Path) -> None:
    cached("cpu", "key", Build(b"good"))
    entry(directory).chmod(0o666)
    build = Build(b"good")
    assert cached("cpu", "key", build) == b"good"
    assert build.calls == 1
    assert stat.S_IMODE(entry(directory).stat().st_mode) == 0o600


def test_no_directory_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(UserWarning, match="no kernel cache on disk"):
        assert cached("cpu", "key", Build(b"code")) == b"code"
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.parametrize("call", ["mkstemp", "replace", "write"])
def test_a_full_or_read_only_disk_breaks_nothing(directory: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    if call == "mkstemp":
        monkeypatch.setattr(cache.tempfile, "mkstemp", full)
    elif call == "replace":
        monkeypatch.setattr(cache.os, "replace", full)
    else:
        opened = open

        def open_full(descriptor: int, mode: str) -> object:
            file = opened(descriptor, mode)
            return file if mode == "rb" else _Full(file)

        monkeypatch.setattr(cache, "open", open_full, raising=False)
    assert cached("cpu", "key", Build(b"code")) == b"code"
    monkeypatch.undo()
    assert not list(directory.iterdir())


class _Full:
    def __init__(self, file: object) -> None:
        self.file = file

    def __enter__(self) -> _Full:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()  # type: ignore[attr-defined]

    def write(self, _: bytes) -> None:
        raise OSError(28, "No space left on device")


def test_the_directory_may_vanish(directory: Path) -> None:
    cached("cpu", "key", Build(b"code"))
    entry(directory).unlink()
    directory.rmdir()
    assert cached("cpu", "key", Build(b"code")) == b"code"
    assert cache_info().entries == 1


def test_clear(directory: Path) -> None:
    for i in range(5):
        cached("cpu", str(i), Build())
    name = entry_name = next(directory.iterdir()).name
    (directory / entry_name.replace(".kernel", "abcd.tmp")).write_bytes(b"left by a killed process")
    (directory / "notes.txt").write_text("not ours")
    assert cache_info().entries == 5
    assert clear_cache() == 5
    assert [p.name for p in directory.iterdir()] == ["notes.txt"]
    assert cache_info() == cache.CacheInfo(directory, 0, 0)
    assert cached("cpu", "0", Build(b"again")) == b"again"
    assert len(name) == 64 + len(".kernel")


def test_where_the_directory_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BARACUDA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_info().path == tmp_path / "xdg" / "baracuda"
    monkeypatch.setenv("BARACUDA_CACHE_DIR", "")
    assert cache_info().path == tmp_path / "xdg" / "baracuda"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: tmp_path / "home"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    expected = {
        "linux": tmp_path / "home" / ".cache" / "baracuda",
        "darwin": tmp_path / "home" / "Library" / "Caches" / "baracuda",
        "win32": tmp_path / "local" / "baracuda" / "Cache",
    }
    for platform, path in expected.items():
        monkeypatch.setattr(cache.sys, "platform", platform)
        assert cache._location() == path


def test_without_a_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(cls: type[Path]) -> Path:
        raise RuntimeError("could not determine home directory")

    monkeypatch.delenv("BARACUDA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(Path, "home", classmethod(homeless))
    monkeypatch.setattr(cache, "_warned", set())
    with pytest.warns(UserWarning, match="BARACUDA_CACHE_DIR"):
        assert cached("cpu", "key", Build(b"code")) == b"code"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cached("cpu", "key", Build(b"code")) == b"code"


def test_threads_build_a_key_once_and_different_keys_at_once(directory: Path) -> None:
    both = threading.Barrier(2)  # passes only if the two keys are built at the same time
    builds: dict[str, int] = {"a": 0, "b": 0}
    results: list[bytes] = []

    def build(key: str) -> bytes:
        builds[key] += 1
        both.wait(timeout=10)
        return key.encode()

    threads = [threading.Thread(target=lambda k=k: results.append(cached("cpu", k, lambda: build(k)))) for k in "ab" * 8]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert builds == {"a": 1, "b": 1}
    assert sorted(results) == [b"a"] * 8 + [b"b"] * 8
    assert not cache._turns


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_during_a_build_leaves_the_child_free(directory: Path) -> None:
    building, release = threading.Event(), threading.Event()

    def slow() -> bytes:
        building.set()
        release.wait(10)
        return b"code"

    thread = threading.Thread(target=lambda: cached("cpu", "key", slow))
    thread.start()
    building.wait(10)
    child = os.fork()
    if child == 0:
        os._exit(0 if cached("cpu", "key", lambda: b"code") == b"code" else 1)
    deadline = time.monotonic() + 10
    status = None
    while status is None and time.monotonic() < deadline:
        done, code = os.waitpid(child, os.WNOHANG)
        status = code if done else None
        time.sleep(0.01)
    if status is None:
        os.kill(child, 9)
        os.waitpid(child, 0)
    release.set()
    thread.join()
    assert status == 0


_WORKER = """
import hashlib, sys
from baracuda.runtime.cache import cached, clear_cache
seed = int(sys.argv[1])
for i in range(120):
    key = str((i * 7 + seed) % 10)
    payload = hashlib.sha256(key.encode()).digest() * 2000
    assert cached("cpu", key, lambda: payload) == payload, key
    if i % 40 == 39 and seed == 0:
        clear_cache()
"""


def test_many_processes(directory: Path) -> None:
    workers = [subprocess.Popen([sys.executable, "-c", _WORKER, str(seed)], stderr=subprocess.PIPE) for seed in range(4)]
    for worker in workers:
        _, errors = worker.communicate(timeout=60)
        assert worker.returncode == 0, errors.decode()
    assert not [p for p in directory.iterdir() if p.suffix == ".tmp"]
    for i in range(10):
        cached("cpu", str(i), Build(b"fresh"))
    assert cache_info().entries == 10


def test_a_cache_that_outgrows_its_size_forgets_what_was_written_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(cache, "MOST_BYTES", 40_000)
    monkeypatch.setattr(cache, "_LOOK_EVERY", 1)
    for i in range(30):
        cached("cpu", f"key {i}", lambda: bytes(4000))
        for age, entry in enumerate(sorted((tmp_path / "kernels").iterdir(), key=lambda p: p.stat().st_mtime_ns)):
            os.utime(entry, (1000 + i + age * 1e-3, 1000 + i + age * 1e-3))
    assert cache.cache_info().bytes <= 40_000 + 5000
    built: list[int] = []
    assert cached("cpu", "key 29", lambda: built.append(1) or b"") == bytes(4000)
    assert not built
    cached("cpu", "key 0", lambda: built.append(1) or bytes(4000))
    assert built
