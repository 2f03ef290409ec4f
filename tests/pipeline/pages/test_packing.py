"""What a page carries packed."""

from __future__ import annotations

import random

import pytest

from bdpbench.pages.packing import pack, unpack


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 998, 999, 1000, 1001])
def test_whatever_is_packed_comes_back(size: int) -> None:
    content = random.Random(size).randbytes(size)
    packed = pack(content)
    assert unpack(packed) == content
    assert not set(packed) & set('"<\\\n')


@pytest.mark.parametrize("damaged", [pack(b"cwnd" * 20)[:-7], "é" + pack(b"cwnd"), "~" * 5])
def test_damage_is_noticed(damaged: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(damaged)
