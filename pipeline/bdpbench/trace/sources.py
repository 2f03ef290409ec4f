"""The sources of a trace's bytes: files, plain or compressed, pipes, and standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

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
_UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError, ZstdError)


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
        used: the queue to which the buffer returns after use, to be filled again.
    """

    source: str
    buffer: bytearray
    length: int
    cut: bool
    used: deque[bytearray]

    def done(self) -> None:
        """Give the buffer back; the chunk must not be used any more."""
        self.used.append(self.buffer)


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
        stream = self._stream or self._open()
        self._stream = None
        try:
            while len(self._head) < _HEAD_BYTES or b"\n" not in self._head[:LONGEST_LINE]:
                more = _read(stream, _HEAD_BYTES, self.name)
                if not more or len(self._head) > LONGEST_LINE:
                    break
                self._head += more
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
        stream, head = self._rewound()
        try:
            yield from _cut_into_chunks(self, stream, head)
        finally:
            self._close(stream)

    def _rewound(self) -> tuple[_Stream, bytes]:
        """The stream of the source, and what has already been read of it."""
        if self._used and not self.is_regular:
            raise BdpbenchError("a pipe can be read only once", where=self.name)
        self._used = True
        head, self._head = self._head, b""
        if self._stream is None:
            self._stream, head = self._open(), b""
        return self._stream, head

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
        return gzip.GzipFile(fileobj=file)
    if magic.startswith(b"BZh"):
        return bz2.BZ2File(file)
    if magic.startswith(b"\xfd7zX"):
        return lzma.LZMAFile(file)
    return ZstdFile(file) if magic.startswith(b"\x28\xb5\x2f\xfd") else file


def _cut_into_chunks(source: Source, stream: _Stream, rest: bytes) -> Iterator[Chunk]:
    """Chunks of a stream, the first of which begins with ``rest``."""
    used: deque[bytearray] = deque()
    name, ended, first = source.name, False, True
    while not ended:
        room = max(CHUNK_BYTES, 2 * len(rest)) + _HEAD_BYTES + PADDING
        buffer = used.popleft() if used else bytearray(room)
        buffer = buffer if len(buffer) >= room else bytearray(room)
        buffer[: len(rest)] = rest
        filled, ended = _fill(stream, buffer, len(rest), name)
        if first and buffer.startswith(_BYTE_ORDER_MARK):
            filled -= len(_BYTE_ORDER_MARK)
            buffer[:filled] = buffer[len(_BYTE_ORDER_MARK) : filled + len(_BYTE_ORDER_MARK)]
        first = False
        filled = _without_blank_end(buffer, filled) if ended else filled
        end = filled if ended else buffer.rfind(b"\n", 0, filled) + 1
        if not ended and end == 0 and filled >= LONGEST_LINE:
            raise BdpbenchError(
                f"no line ends within {filled} bytes: this is not a trace of ns-2", where=name
            )
        rest = bytes(memoryview(buffer)[end:filled])
        if end == 0:
            continue
        cut = buffer[end - 1] != ord("\n")
        if cut:
            buffer[end : end + 1] = b"\n"
        yield Chunk(name, buffer, end + cut, cut, used)


def _without_blank_end(buffer: bytearray, filled: int) -> int:
    """Length of the text without blank lines at its end, which have no meaning."""
    written = len(bytes(memoryview(buffer)[:filled]).rstrip(b" \t\r\n"))
    newline = buffer.find(b"\n", written, filled)
    return newline + 1 if written and newline >= 0 else filled


def _fill(stream: _Stream, buffer: bytearray, filled: int, name: str) -> tuple[int, bool]:
    """Read until the buffer is full except for its padding, or the stream ends."""
    room = memoryview(buffer)
    limit = len(buffer) - PADDING
    while filled < limit:
        try:
            count = stream.readinto(room[filled:limit])
        except _UNREADABLE as error:
            raise _unreadable(name, error) from None
        if not count:
            return filled, True
        filled += count
    return filled, False


def _read(stream: _Stream, size: int, name: str) -> bytes:
    buffer = bytearray(size)
    try:
        return bytes(buffer[: stream.readinto(memoryview(buffer)) or 0])
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
