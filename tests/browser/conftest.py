"""A real Chromium that opens the report from a file and records everything it complains about."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    CDPSession,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)
from tests.needs import leave_out
from tests.waiting import HANGS_S

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# The first one has no windows: it opens a page with half of the work.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Most of these waits take milliseconds.
WAIT_MS = 1000 * HANGS_S
WINDOW: ViewportSize = {"width": 1280, "height": 900}
expect.set_options(timeout=WAIT_MS)
DEJAVU = Path("/usr/share/fonts/truetype/dejavu")
SYNTHETIC = Path(__file__).parents[1] / "pipeline" / "pages" / "synthetic.py"


def _chromium() -> str:
    given = os.environ.get("BDPBENCH_CHROMIUM")
    found = given or next((path for name in NAMES if (path := shutil.which(name))), None)
    if not found:
        leave_out("no Chromium", "install one (Ubuntu has only a snap), or set BDPBENCH_CHROMIUM")
    return found


def _one_font(folder: Path) -> dict[str, str]:
    """Variables with which a browser finds DejaVu alone, whatever else is installed.

    A bare Debian has no other font, and its letters are wide: what fits with it fits with others.
    """
    if not DEJAVU.is_dir():
        return {}
    config = folder / "fonts.conf"
    config.write_text(
        f"<fontconfig><dir>{DEJAVU}</dir><cachedir>{folder}</cachedir></fontconfig>\n"
    )
    return {"FONTCONFIG_FILE": str(config)}


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, as a package of Python ships it."""
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One headless Chromium for all tests."""
    fonts = _one_font(tmp_path_factory.mktemp("fonts"))
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=_chromium(),
            args=ARGUMENTS,
            # In the C locale it does not find folders with letters outside ASCII.
            env={**os.environ, **fonts, "LC_ALL": "C.UTF-8"},
            timeout=WAIT_MS,
        )
        yield running
        running.close()


@pytest.fixture(scope="session")
def synthetic() -> Any:
    """The module that invents studies."""
    return _synthetic()


def _synthetic() -> Any:
    spec = importlib.util.spec_from_file_location("bdpbench_tests_synthetic", SYNTHETIC)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _synthetic_report(folder: Path) -> Path:
    out = folder / "synthetic" / "quick" / "report.html"
    _synthetic().synthetic_inputs().build(out)
    return out


@pytest.fixture(scope="session")
def report(made_once: Callable[..., Path]) -> Path:
    """The report of the synthetic study, in its place in a results folder."""
    return made_once("synthetic", _synthetic_report) / "synthetic" / "quick" / "report.html"


@pytest.fixture
def report_with_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same report with its views in lists, as in a study with very many runs."""
    monkeypatch.setattr("bdpbench.pages.report.MOST_BUTTONS", 1)
    return _synthetic_report(tmp_path)


def window(browser: Browser, **options: Any) -> BrowserContext:
    """A window without what others have stored, in which waits have time."""
    context = browser.new_context(viewport=WINDOW, **options)
    context.set_default_timeout(WAIT_MS)
    return context


@dataclass
class Visit:
    """A page and its errors; ``beside`` is the folder of files that the page may load."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    beside: Path | None = None

    def open(self, file: Path, suffix: str = "") -> Page:
        """Open a file by its ``file:`` address; ``suffix`` is a query or a fragment."""
        self.page.on("console", lambda message: self._console(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri() + suffix)
        return self.page

    def clock(self) -> CDPSession:
        """Begin to count the CPU time of the page's thread, which no other process changes."""
        session = self.page.context.new_cdp_session(self.page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        return session

    def _console(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(f"{kind}: {text}")


def spent_s(session: CDPSession) -> float:
    """The CPU time, s, of a page whose clock was begun."""
    found = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in found if each["name"] == "TaskDuration"))


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """A visit in a window of its own; it fails at the end if the page complained or requested
    anything but itself and the files beside it."""
    context = window(browser)
    visit = Visit(context.new_page())
    yield visit
    context.close()
    assert visit.complaints == []
    assert [url for url in visit.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    files = [url for url in visit.requests if url.startswith("file:")]
    if visit.beside is not None:
        files = [url for url in files if not url.startswith(visit.beside.as_uri())]
    assert len(files) == 1
