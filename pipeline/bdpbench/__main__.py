"""``python -m bdpbench``: the command line."""

from __future__ import annotations

from bdpbench.cli import main

if __name__ == "__main__":
    main()
