"""What a page carries packed."""

from __future__ import annotations

import pytest

from bdpbench.pages.packing import pack, unpack


@pytest.mark.parametrize("text", ["", "cwnd", "\u2028<é\n" * 1000])
def test_whatever_is_packed_comes_back(text: str) -> None:
    packed = pack(text)
    assert unpack(packed) == text
    assert not set(packed) & set('"<\\\n')


@pytest.mark.parametrize("damaged", [pack("cwnd" * 20)[:-8], "é" + pack("cwnd"), "~" * 5])
def test_damage_is_noticed(damaged: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(damaged)
