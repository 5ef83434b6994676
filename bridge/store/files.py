"""Folders and files below the home, reached one component at a time so that no symbolic link is followed.

A file appears whole or not at all: it is written under a temporary name in the same folder and then linked
to its own name, which fails where that name is taken. So of two writers exactly one wins, and a writer that
is killed leaves at most a temporary file, which no reader opens and cleanup removes. Nothing waits for the
disk: the promise is against a killed process, not against a power cut.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

_TEMPORARY = re.compile(r"\.tmp-[0-9a-f]{16}")
_BLOCK_BYTES = 1 << 20

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a FIFO in the place of a file must not hang the reader.
_EXISTING_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

# What link(2) says on file systems without hard links (FAT, some network and container mounts).
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}

T = TypeVar("T")


@contextmanager
def opened(home: Path, names: Iterable[str], *, create: bool = False) -> Iterator[int]:
    """Return a file descriptor of the folder ``names`` below ``home``; raises ``OSError`` when it is none.

    With ``create``, what is missing is made, for its owner alone. Only the home itself may be reached
    through a symbolic link: where it lies is its owner's choice.
    """
    folder = _open_home(home, create=create)
    try:
        for name in names:
            parent, folder = folder, _open_child(folder, name, create=create)
            os.close(parent)
        yield folder
    finally:
        os.close(folder)


def _open_home(home: Path, *, create: bool) -> int:
    try:
        return os.open(home, _FOLDER & ~os.O_NOFOLLOW)
    except FileNotFoundError:
        if not create:
            raise
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(home, _FOLDER & ~os.O_NOFOLLOW)


def _open_child(parent: int, name: str, *, create: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except FileNotFoundError:
        if not create:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=parent)
    return os.open(name, _FOLDER, dir_fd=parent)


def write_new(home: Path, names: tuple[str, ...], parts: Iterable[bytes]) -> None:
    """Write a file below ``home``; its last name is the file's, the others are folders.

    Raises ``FileExistsError`` when the name is taken, and ``OSError`` when the disk refuses; in both cases
    nothing of it is left.
    """
    *folders, name = names
    parts = tuple(parts)
    with suppress(FileNotFoundError):
        return _write_new(home, folders, name, parts)
    # Somebody removed the folder, or the temporary file in it, while we wrote: once more from the start.
    return _write_new(home, folders, name, parts)


def _write_new(home: Path, folders: list[str], name: str, parts: tuple[bytes, ...]) -> None:
    with opened(home, folders, create=True) as folder:
        temporary = f".tmp-{os.urandom(8).hex()}"
        file = os.open(temporary, _NEW_FILE, 0o600, dir_fd=folder)
        try:
            _write_and_close(file, parts)
            _publish(folder, temporary, name)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)


def is_temporary(name: str) -> bool:
    """Return whether ``write_new`` gives such names to what it writes; any other file is somebody else's."""
    return _TEMPORARY.fullmatch(name) is not None


def _write_and_close(file: int, parts: tuple[bytes, ...]) -> None:
    try:
        for part in parts:
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(file, rest) :]
    finally:
        os.close(file)


def _publish(folder: int, temporary: str, name: str) -> None:
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # Not atomic: between the look and the rename a second writer of the same name may slip in. Both
        # wrote a whole file, and the inventory keeps the hash of the one that it was told of first.
        if exists(folder, name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def exists(folder: int, name: str) -> bool:
    """Return whether ``name`` is taken in this folder, be it by a file, a folder or a link."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def with_file(home: Path, names: tuple[str, ...], use: Callable[[int], T]) -> T:
    """Open the file for reading, give its descriptor to ``use``, close it.

    Raises ``FileNotFoundError`` when it is not there, ``NotAFileError`` when something else is in its place,
    and any other ``OSError`` when it cannot be opened.
    """
    *folders, name = names
    with opened(home, folders) as folder:
        file = _open_file(folder, name)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise NotAFileError(errno.EINVAL, "not a regular file", name)
        return use(file)
    finally:
        os.close(file)


def is_there(home: Path, names: tuple[str, ...]) -> bool:
    """Return whether a file lies there; raises ``OSError`` when that cannot be found out."""
    try:
        return with_file(home, names, lambda _: True)
    except (FileNotFoundError, NotAFileError):
        return False


def sha256_of(file: int) -> str:
    """Return the hash of an open file's content, in hexadecimal."""
    digest = sha256()
    position = 0
    while block := os.pread(file, _BLOCK_BYTES, position):
        digest.update(block)
        position += len(block)
    return digest.hexdigest()


class NotAFileError(OSError):
    """A link, folder or device lies where an output should be: somebody else put it there."""


def _open_file(folder: int, name: str) -> int:
    try:
        return os.open(name, _EXISTING_FILE, dir_fd=folder)
    except OSError as error:
        # ELOOP is a symbolic link under O_NOFOLLOW, ENXIO a socket (open(2)).
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise NotAFileError(error.errno, "not a regular file", name) from None
        raise


def listed(home: Path, names: tuple[str, ...]) -> list[str]:
    """Return the names in a folder below ``home``; raises ``OSError`` when it is none."""
    with opened(home, names) as folder, os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def remove_if_empty(home: Path, names: tuple[str, ...]) -> None:
    """Remove a folder below ``home`` unless something is in it."""
    *folders, name = names
    with suppress(OSError), opened(home, folders) as folder:
        os.rmdir(name, dir_fd=folder)


def remove(home: Path, names: tuple[str, ...]) -> bool:
    """Remove a file below ``home`` and say whether it is gone; a fault is left for the next cleanup."""
    *folders, name = names
    try:
        with opened(home, folders) as folder:
            os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
