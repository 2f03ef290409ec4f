"""altair, imported when it first makes a chart: this takes longer than a small report."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["alt"]

if TYPE_CHECKING:
    import altair as alt
else:

    class _OnDemand:
        """Stands in for the module; ``import altair`` itself would load it at once."""

        def __getattr__(self, name):
            import altair

            return getattr(altair, name)

    alt = _OnDemand()
