"""bdpbench reproduces the classic studies of TCP on high bandwidth-delay-product paths."""

from __future__ import annotations

__version__ = "0.1.0"
