"""Scripts as others write them give the bytes of the variant stock.

docs/ns2.md tells how long the same scripts take over longer times.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SameOutputs = Callable[..., Path]

CORPUS = Path(__file__).with_name("corpus")
# Arguments, and the words that one of the outputs must contain if the scenario serves its purpose.
CASES = {
    "wireless AODV 20 old 4 mac 1": ("(REQUEST)", "energy", "N -t", "-k MAC"),
    "wireless AODV 20 new 3 router 0": ("-P aodv", "-Pn tcp", "-Pn cbr"),
    "wireless DSR 20 new 4 mac 0": ("-P dsr", "-Nw COL"),
    "wireless DSR 20 old 3 router 0": ("DSR",),
    "wireless DSDV 20 new 4 mac 0": ("-It message",),
    "networks lan 1": ("tcp",),
    "networks satellite 10": ("tcp",),
    "networks diffserv 2": ("Packets Statistics",),
    "networks dv 2": ("rtProtoDV",),
    "networks mpls 2": ("LDP",),
    "networks multicast 2": ("prune",),
    "dumbbell tcp DropTail 4 2 both": ("+ -t", "h -t"),
    "dumbbell fulltcp RED 4 2 nam": ("h -t",),
    "dumbbell tcp DropTail 4 4 variables": (" cwnd_ ", " rttvar_ ", " ndatabytes_ "),
    "dumbbell sctp DropTail 2 2 both": ("sctp",),
    "dumbbell mixed DRR 8 2 trace": ("exp",),
    "dumbbell mixed SFQ 8 2 both": ("exp",),
    "fat 3 1.5": (" 0 ",),
    "draws 300": ("Weibull",),
}


@pytest.mark.parametrize("words", CASES)
def test_every_output_of_a_script_is_the_same(words: str, same_outputs: SameOutputs) -> None:
    script, *arguments = words.split()
    folder = same_outputs([str(CORPUS / f"{script}.tcl"), *arguments])
    text = "".join(path.read_text() for path in folder.iterdir())
    assert [word for word in CASES[words] if word not in text] == []
