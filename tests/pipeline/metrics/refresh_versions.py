"""Records which code each hand-set version of a metric stands for, after a change was judged.

`PYTHONPATH=pipeline python tests/pipeline/metrics/refresh_versions.py` writes versions.json, and
``test_versions.py`` checks the code against it. Run it if the values still mean the same; if not,
raise the version in the metric's decorator first.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from bdpbench.metrics import DEFINITIONS
from bdpbench.metrics.code import code_digest
from bdpbench.metrics.packets import measure_packets, native, sum_packets

PATH = Path(__file__).with_name("versions.json")
SUMS_IN_C = Path(native.__file__).with_name("packet_sums.c")


def recorded() -> dict[str, str]:
    """Id of each hand-set version → digest of its code; metrics of packet traces share one."""
    ids = {each.id: each.digest for each in DEFINITIONS.values() if each.version is not None}
    return {
        **ids,
        "metrics of packet traces": code_digest([sum_packets, measure_packets]),
        "sums of packet traces in C": hashlib.sha256(SUMS_IN_C.read_bytes()).hexdigest(),
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(recorded(), indent=1) + "\n")
