"""The browser that prints pages."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from bdpbench.contracts.files import write_bytes_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run

BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
)
"""Programs that print a page; the first one that is installed is used."""

BROWSER_VARIABLE = "BDPBENCH_CHROMIUM"
"""Environment variable that names another program of the kind."""

_MOST_PRINTING_S = 180

# Milliseconds of the page's own time in which it draws its charts before it is printed.
_DRAWING_MS = 30_000


def found_browser() -> str:
    """The program that prints pages.

    Raises:
        BdpbenchError: when none is installed.
    """
    given = os.environ.get(BROWSER_VARIABLE)
    found = given or next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise BdpbenchError(
            "no browser that prints without a window is installed",
            where="--pdf",
            hint="install chromium, or open the page in any browser and print it",
        )
    return found


def print_page(page: Path, pdf: Path) -> None:
    """Print a page as PDF with a headless browser, which draws its charts first.

    Raises:
        BdpbenchError: when no browser is installed, or when it fails.
    """
    browser = found_browser()
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / pdf.name
        for options in ((), ("--no-sandbox",)):  # without one as root, and in many containers
            said = _print(browser, page, made, *options)
            if made.is_file():
                write_bytes_atomically(pdf, made.read_bytes())
                return
    raise BdpbenchError(f"{browser} printed nothing: {said.splitlines()[-1]}", where=str(page))


def _print(browser: str, page: Path, made: Path, *options: str) -> str:
    """Let a browser print a page, and return what it says."""
    command = [
        browser,
        "--headless",
        *options,
        "--disable-gpu",
        f"--user-data-dir={made.parent}/profile",
        f"--virtual-time-budget={_DRAWING_MS}",
        "--no-pdf-header-footer",
        f"--print-to-pdf={made}",
        page.resolve().as_uri(),
    ]
    try:
        done = run(command, _MOST_PRINTING_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BdpbenchError(f"cannot be printed ({error})", where=str(page)) from None
    return done.stderr.strip() or f"exit code {done.returncode}"
