"""Specifications of the charts of a trace, cached on disk: altair takes longer than most traces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from bdpbench.contracts.files import cached
from bdpbench.pages.chart import Spec

_MADE_OF = ("analysis_specs.py", "analysis_charts.py", "patterns.py", "text.py", "time_charts.py")
SpecWords = tuple[str, str, bool]
"""Title of the axis of the quantity, of the axis of shares, and whether lines have steps."""


def kept_specs(words: Mapping[str, SpecWords]) -> dict[str, Spec]:
    """Kind → its specification, cached on disk as long as the code that makes it is unchanged.

    Args:
        words: kind → title of the axis of its quantity, title of the axis of shares ("" for a curve
            over time), and whether a value holds for the interval that ends at its time.
    """
    folder = Path(__file__).parent
    code = [(folder / name).read_bytes() for name in _MADE_OF]
    facts = json.dumps([version("altair"), words], sort_keys=True).encode()
    return cached("trace-charts", [*code, facts], lambda: _made(words))


def _made(words: Mapping[str, SpecWords]) -> dict[str, Spec]:
    from bdpbench.pages.time_charts import cdf_spec, time_spec

    return {
        kind: cdf_spec(quantity, share) if share else time_spec(quantity, steps=steps)
        for kind, (quantity, share, steps) in words.items()
    }
