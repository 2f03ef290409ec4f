"""Durations for readers."""

from __future__ import annotations


def duration_text(seconds: float) -> str:
    """A duration in readable units: ``45 s``, ``3 min``, ``2.5 h``.

    >>> duration_text(44.6), duration_text(200), duration_text(9000)
    ('45 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
