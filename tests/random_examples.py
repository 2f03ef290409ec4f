"""Random examples: the suite draws the same few each time, so that it never fails by chance.

With ``BDPBENCH_EXAMPLES=FACTOR`` so many times as many are drawn, others each time or as
``--hypothesis-seed`` says. What fails then becomes an ``@example`` of its test.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

from bdpbench.contracts.paths import home_dir

_FACTOR = int(os.environ.get("BDPBENCH_EXAMPLES", "0"))

set_hypothesis_home_dir(home_dir() / "cache" / "hypothesis")
# Without limits of time, which a busy machine exceeds.
settings.register_profile(
    "suite",
    database=None,
    deadline=None,
    derandomize=not _FACTOR,
    max_examples=25 * (_FACTOR or 1),
    print_blob=bool(_FACTOR),
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("suite")


def examples(count: int) -> settings:
    """Settings of a test that needs so many examples in the suite; without them it has 25."""
    return settings(max_examples=count * (_FACTOR or 1))
