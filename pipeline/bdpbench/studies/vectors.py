"""Connection vectors of Tmix: files of them, read, checked, and as arguments of a script.

A file has the form that ns-2.35's Tmix calls its alternate one, which ``cvec-orig2alt.pl`` of ns-2
makes of the original one: ``S start_us requests 0 id`` begins a connection whose ends take turns,
``C start_us sends_of_initiator sends_of_acceptor 0 id`` one whose ends do not; ``m bytes bytes``
gives the segment sizes of its ends, and ``I send_us receive_us bytes`` or ``A ...`` is what the
initiator or the acceptor sends, so long after its last or after what it has received.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from bdpbench.contracts.files import utf8_text
from bdpbench.contracts.paths import expanded
from bdpbench.contracts.yaml_files import Location
from bdpbench.errors import BdpbenchError
from bdpbench.studies.queues import HEADER_BYTES
from bdpbench.studies.values import Values
from bdpbench.units import BITS_PER_BYTE, MOST_PACKET_BYTES

MOST_CHARACTERS = 120_000
"""Most characters of an argument; Linux gives a program no longer ones than 128 KiB."""
MOST_UNIT_BYTES = 1_000_000_000
"""Tmix counts bytes in 32 bits."""
SEGMENT_BYTES = 1460
"""Of connections without a line m, as in Tmix."""


@dataclass
class _Vector:
    kind: str
    start_us: int
    line: int
    segment_bytes: int = SEGMENT_BYTES
    units: list[tuple[str, int, int, int]] = field(default_factory=list)

    def word(self) -> str:
        units = [":".join(map(str, unit)) for unit in self.units]
        return ",".join([self.kind, str(self.start_us), str(self.segment_bytes), *units])

    def bits(self) -> int:
        """What the acceptor sends, in whole packets with headers."""
        packets = sum(-(-each[3] // self.segment_bytes) for each in self.units if each[0] == "A")
        return BITS_PER_BYTE * packets * (self.segment_bytes + HEADER_BYTES)


def read_vectors(
    values: Values, name: str, location: Location
) -> tuple[tuple[str, ...], int, float]:
    """The vectors of a file as words for the script, what their acceptors send, and the last start.

    Returns:
        Words, bits, and s.

    Raises:
        BdpbenchError: naming file and line of what is wrong.
    """
    path = values.study.folder / expanded(Path(name))
    try:
        status = path.stat()
    except OSError:
        raise values.error(location, f"no such file: {path}") from None
    return _read(path, (status.st_mtime_ns, status.st_size))


@lru_cache(maxsize=16)
def _read(path: Path, _state: tuple[int, int]) -> tuple[tuple[str, ...], int, float]:
    vectors: list[_Vector] = []
    for number, text in enumerate(utf8_text(path).splitlines(), start=1):
        words = text.split()
        if words and not words[0].startswith("#"):
            try:
                _take(words, number, vectors)
            except ValueError as error:
                raise BdpbenchError(str(error), where=f"{path}:{number}") from None
    for vector in vectors:
        if not vector.units:
            raise BdpbenchError("a connection sends nothing", where=f"{path}:{vector.line}")
    words_of_all = tuple(vector.word() for vector in vectors)
    size = sum(map(len, words_of_all)) + len(words_of_all)
    if not vectors or size > MOST_CHARACTERS:
        raise BdpbenchError(
            f"{size:,} characters of vectors: expected 1 to {MOST_CHARACTERS:,}",
            where=str(path),
            hint="several sources can each have a file of their own",
        )
    latest_s = max(vector.start_us for vector in vectors) / 1e6
    return words_of_all, sum(vector.bits() for vector in vectors), latest_s


def _take(words: list[str], number: int, vectors: list[_Vector]) -> None:
    """Add a line to the vectors."""
    kind, *rest = words
    counts = {"S": 4, "C": 5, "m": 2, "w": 2, "r": 1, "l": 2, "I": 3, "A": 3}
    if kind not in counts:
        raise ValueError(f"unknown line {kind!r}: expected {', '.join(counts)}")
    if kind in ("w", "r", "l"):
        raise ValueError(
            f"{kind} would have no effect: windows, RTTs and losses are those of the scenario"
        )
    if len(rest) != counts[kind]:
        raise ValueError(f"expected {counts[kind]} numbers after {kind}, got {len(rest)}")
    if not all(word.isascii() and word.isdigit() and len(word) <= 18 for word in rest):
        raise ValueError("expected whole numbers of 0 or more")
    given = [int(word) for word in rest]
    if kind in "SC":
        vectors.append(_Vector(kind, given[0], number))
    elif not vectors:
        raise ValueError(f"{kind} before the first connection, which begins with S or C")
    else:
        _add(kind, given, vectors[-1])


def _add(kind: str, given: list[int], vector: _Vector) -> None:
    """Add the numbers of a line after the first to a vector."""
    if kind == "m":
        if given[0] != given[1] or not 1 <= given[0] <= MOST_PACKET_BYTES:
            raise ValueError(
                f"expected one segment size for both ends, 1 to {MOST_PACKET_BYTES}: Tmix counts "
                "what an end receives in segments of its own"
            )
        vector.segment_bytes = given[0]
    elif given[2] > 0:  # 0 closes the connection, which happens after its last byte in any case
        if given[2] > MOST_UNIT_BYTES:
            raise ValueError(f"expected {MOST_UNIT_BYTES:,} bytes at most")
        vector.units.append((kind, given[0], given[1], given[2]))
