"""The sources of a trace's bytes: files, plain or compressed, pipes, and standard input."""

from __future__ import annotations

import bz2
import io
import lzma
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from isal import igzip, igzip_lib  # a quarter of the time of Python's own gzip

from bdpbench.errors import BdpbenchError

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError, ZstdFile
else:
    from backports.zstd import ZstdError, ZstdFile

STANDARD_INPUT = "-"
CHUNK_BYTES = 2 << 20
"""Size of a chunk, bytes: large compared with the cost of a batch, small compared with memory."""

LONGEST_LINE = 4 << 20
"""Bytes of a line and of what is read to find its end."""

PADDING = 16
"""Bytes after a chunk's text that what parses it may read."""

_HEAD_BYTES = 1 << 16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ISAL: Any = igzip_lib.IsalError  # its stub declares an exception in place of a class
_UNREADABLE = (OSError, EOFError, _ISAL, lzma.LZMAError, ZstdError)


class _Stream(Protocol):
    """Reads bytes into a buffer and returns their number, 0 at the end."""

    def readinto(self, buffer: memoryview, /) -> int | None: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Chunk:
    """Whole lines of one source.

    Attributes:
        source: name of the source, for messages.
        buffer: the text, followed by at least PADDING bytes.
        length: length of the text, bytes; its last byte is a newline.
        cut: whether the source ended without a newline: the last line may have been cut off, and
            the final newline was added.
    """

    source: str
    buffer: bytearray
    length: int
    cut: bool


@dataclass
class Source:
    """A file, pipe or standard input; what is read to detect the format of a pipe is not lost."""

    path: str
    _head: bytes = b""
    _stream: _Stream | None = field(default=None, repr=False)
    _file: io.BufferedReader | None = field(default=None, repr=False)
    _used: bool = False

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == STANDARD_INPUT else self.path

    def head(self) -> bytes:
        """The first lines, decompressed: at least one whole line if the source has one.

        Raises:
            BdpbenchError: when the source cannot be read.
        """
        stream, buffer = self._stream or self._open(), bytearray(_HEAD_BYTES)
        self._stream = None
        try:
            while len(self._head) < _HEAD_BYTES or b"\n" not in self._head[:LONGEST_LINE]:
                count = _read_into(stream, memoryview(buffer), self.name)
                if not count or len(self._head) > LONGEST_LINE:
                    break
                self._head += buffer[:count]
        except BdpbenchError:
            self._close(stream)
            raise
        self._head = self._head.removeprefix(_BYTE_ORDER_MARK)
        if self.is_regular:
            self._close(stream)  # it is opened again for reading
        else:
            self._stream = stream
        return self._head

    def chunks(self) -> Iterator[Chunk]:
        """The source from its beginning, in chunks of whole lines.

        Raises:
            BdpbenchError: when the source cannot be read, is damaged, has a line longer than
                LONGEST_LINE, or is a pipe that was read before.
        """
        if self._used and not self.is_regular:
            raise BdpbenchError("a pipe can be read only once", where=self.name)
        self._used = True
        head, self._head = self._head, b""
        stream = self._stream
        if stream is None:
            stream, head = self._open(), b""
        try:
            yield from _cut_into_chunks(self.name, stream, head)
        finally:
            self._close(stream)

    @property
    def is_regular(self) -> bool:
        """Whether it is a file, which can be read again."""
        return self.path != STANDARD_INPUT and Path(self.path).is_file()

    def _open(self) -> _Stream:
        file = 0 if self.path == STANDARD_INPUT else self.path
        try:
            self._file = open(file, "rb", closefd=file != 0)  # noqa: SIM115 - the caller closes
            return _decompressed(self._file)
        except OSError as error:
            raise _unreadable(self.name, error) from None

    def _close(self, stream: _Stream) -> None:
        stream.close()
        if self._file is not None:
            self._file.close()
        self._stream = None


def _decompressed(file: io.BufferedReader) -> _Stream:
    magic = file.peek()
    if magic.startswith(b"\x1f\x8b"):
        return igzip.IGzipFile(fileobj=file)  # type: ignore[no-untyped-call]
    if magic.startswith(b"BZh"):
        return bz2.BZ2File(file)
    if magic.startswith(b"\xfd7zX"):
        return lzma.LZMAFile(file)
    return ZstdFile(file) if magic.startswith(b"\x28\xb5\x2f\xfd") else file


def _cut_into_chunks(name: str, stream: _Stream, rest: bytes) -> Iterator[Chunk]:
    """Chunks of a stream, the first of which begins with ``rest``."""
    ended, first = False, True
    while not ended:
        buffer = bytearray(max(CHUNK_BYTES, 2 * len(rest)) + _HEAD_BYTES + PADDING)
        buffer[: len(rest)] = rest
        filled, room = len(rest), memoryview(buffer)[:-PADDING]
        while filled < len(room) and not ended:
            count = _read_into(stream, room[filled:], name)
            filled, ended = filled + count, count == 0
        room.release()
        if first and buffer.startswith(_BYTE_ORDER_MARK):
            filled -= len(_BYTE_ORDER_MARK)
            del buffer[: len(_BYTE_ORDER_MARK)]
        first = False
        end = buffer.rfind(b"\n", 0, filled) + 1
        if not ended and end == 0 and filled >= LONGEST_LINE:
            raise BdpbenchError(
                f"no line ends within {filled} bytes: this is not a trace of ns-2", where=name
            )
        if ended:  # blank lines at the end have no meaning
            written = len(buffer[:filled].rstrip(b" \t\r\n"))
            newline = buffer.find(b"\n", written, filled)
            end = newline + 1 if written and newline >= 0 else filled
        rest = bytes(memoryview(buffer)[end:filled])
        if end:
            cut = buffer[end - 1] != ord("\n")
            buffer[end : end + cut] = b"\n" * cut
            yield Chunk(name, buffer, end + cut, cut)


def _read_into(stream: _Stream, room: memoryview, name: str) -> int:
    try:
        return stream.readinto(room) or 0
    except _UNREADABLE as error:
        raise _unreadable(name, error) from None


def _unreadable(name: str, error: Exception) -> BdpbenchError:
    if isinstance(error, OSError) and error.strerror:
        return BdpbenchError(f"{error.strerror}: expected a trace of ns-2", where=name)
    return BdpbenchError(
        f"the compressed file is damaged or was cut off: {error}",
        where=name,
        hint="decompress what is left of it with gzip -dc, xz -dc or zstd -dc, and give that",
    )
