"""Programs that only some commands need: Python packages in folders of their own, and a browser."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bdpbench.contracts.files import sha256_of, write_bytes_atomically
from bdpbench.contracts.paths import home_dir, repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run


def pinned_packages(
    name: str,
    what: str,
    say: Callable[[str], None],
    complete: Callable[[Path], None] = lambda folder: None,
) -> Path:
    """The folder with the packages that ``pipeline/requirements-NAME.lock`` pins.

    The first call that needs them installs them, into a temporary folder that replaces the final
    one when it is complete.

    Args:
        name: of the lock file.
        what: what the packages are, for messages.
        say: told that something is installed.
        complete: adds to the folder what is made of the packages.

    Raises:
        BdpbenchError: when they cannot be installed.
    """
    lock = repository_root() / "pipeline" / f"requirements-{name}.lock"
    folder = home_dir() / "plugins" / f"{name}-{sha256_of(lock)[:12]}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / ".lock").open("w", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another bdpbench is installing Python packages; waiting for it to end")
            fcntl.flock(stream, fcntl.LOCK_EX)
        if not folder.is_dir():
            say(f"installing the Python packages of pipeline/{lock.name} (once)")
            unfinished = folder.with_name(f"{folder.name}.unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            _install(lock, unfinished, what)
            complete(unfinished)
            unfinished.replace(folder)
    return folder


def _install(lock: Path, folder: Path, what: str) -> None:
    # Packages that are shared with bdpbench are already installed, hence --no-deps.
    words = ("install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", *words, "--only-binary", ":all:", "--no-compile"),
            *("--target", str(folder), "-r", str(lock)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        last = "".join(done.stderr.strip().splitlines()[-1:])
        raise BdpbenchError(
            f"{what} could not be installed: {last}",
            where=f"pipeline/{lock.name}",
            hint="the installation needs pip and a package index, so make the first call with both",
        )


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
        said = _print(browser, page, made, *(["--no-sandbox"] if os.geteuid() == 0 else []))
        # As in many containers. The page is ours and loads nothing.
        if not made.is_file() and "sandbox" in said:
            said = _print(browser, page, made, "--no-sandbox")
        if not made.is_file():
            last = said.splitlines()[-1]
            raise BdpbenchError(f"{browser} printed nothing: {last}", where=str(page))
        write_bytes_atomically(pdf, made.read_bytes())


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
