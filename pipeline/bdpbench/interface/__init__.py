"""The interface for scripts and notebooks; ``import bdpbench`` has all of it (``docs/python.md``).

It is a thin layer over the other rooms, which plan, simulate, measure and judge: nothing is
computed here, and calls return what the report of the same results shows.
"""

from __future__ import annotations

from bdpbench.interface.studies import Study, Tier, list_studies, published, study

__all__ = ["Study", "Tier", "list_studies", "published", "study"]
