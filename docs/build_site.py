"""Build the site: documentation, atlas and published reports as one folder for any web server.

    PYTHONPATH=$PWD/pipeline:$PWD .bdpbench/venv/bin/python docs/build_site.py FOLDER

MkDocs, which the first call installs into a folder of its own, builds it from the pages of
``docs/`` and, linked beside them, the reports, which it copies. Any static web server can serve it,
from any of its folders, and it opens without one; only the search needs a server. All links are
relative, and every one is checked.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml

from bdpbench.app.atlas import make_atlas
from bdpbench.app.totals import totals_sentence
from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import checkout_root, home_dir
from bdpbench.contracts.reports import REPORT_NAME, SUMMARY_NAME, read_scorecard
from bdpbench.contracts.scorecard import SCORECARD_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.pages.atlas import atlas_page
from bdpbench.pages.drawing import PAGE_PT, sized, svg_of
from bdpbench.pages.shards import read_shards
from bdpbench.processes import run

CONFIG_NAME = "mkdocs.yml"
PUBLISHED_PAGE = "published.md"
PUBLISHED_FOLDER, EVALUATIONS_FOLDER = "published", "evaluations"
ATLAS_NAME = "all-studies.html"
PICTURE_NAME = "first.svg"

_SHOWN = 5
_MOST_BUILDING_S = 600


def main(folder: Path) -> None:
    """Write the site into a new or empty folder.

    Raises:
        BdpbenchError: when ``folder`` has something in it or cannot be written, when MkDocs cannot
            be installed or finds something wrong, and when a link of the site leads nowhere.
    """
    root, folder = checkout_root(), folder.absolute()
    packages = _mkdocs(root / "pipeline" / "requirements-docs.lock")
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
        pages, made = Path(scratch) / "docs", Path(scratch) / "site"
        shutil.copytree(root / "docs", pages, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        studies = _add_published(root / "reports", pages)
        (pages / ATLAS_NAME).write_text(atlas_page(make_atlas()), encoding="utf-8")
        _build(_configured(root, pages, made), packages)
        # It names files by paths from the root of a server.
        (made / "404.html").unlink(missing_ok=True)
        dead = list(dead_links(made))
        if dead:
            more = f"; and {len(dead) - _SHOWN} more" if len(dead) > _SHOWN else ""
            raise BdpbenchError(f"links lead nowhere: {'; '.join(dead[:_SHOWN])}{more}")
        made.rename(folder)  # which the system refuses if there is anything in it
    files = [path for path in folder.rglob("*") if path.is_file()]
    size_mb = sum(path.stat().st_size for path in files) / 1e6
    print(f"published reports: {studies}; files: {len(files)}, {size_mb:.1f} MB; no dead link")


def _mkdocs(lock: Path) -> Path:
    """The folder with MkDocs as its lock file pins it, which is installed if it is not there.

    Raises:
        BdpbenchError: when it cannot be installed.
    """
    folder = home_dir() / "plugins" / f"docs-{sha256_of(lock)[:12]}"
    if folder.is_dir():
        return folder
    print(f"installing the Python packages of {lock.name} (once)", file=sys.stderr, flush=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Packages that are shared with bdpbench are already installed, hence --no-deps.
    words = ["install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps"]
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / folder.name
        words += ["--only-binary", ":all:", "--no-compile", "--target", str(made), "-r", str(lock)]
        done = run([sys.executable, "-m", "pip", *words], _MOST_BUILDING_S)
        if done.returncode != 0:
            last = "".join(done.stderr.strip().splitlines()[-1:])
            hint = (
                "the installation needs pip and a package index, so make the first call with both"
            )
            raise BdpbenchError(
                f"MkDocs could not be installed: {last}", where=str(lock), hint=hint
            )
        if not folder.is_dir():  # another call may have been quicker
            made.rename(folder)
    return folder


def _add_published(reports: Path, pages: Path) -> int:
    """Link the published reports, and list them on a page and on the first; returns how many."""
    (pages / EVALUATIONS_FOLDER).symlink_to(reports / EVALUATIONS_FOLDER)
    lines = [
        "# Published reports",
        "",
        "Each shows every number and statement of its study beside what was measured.",
        f"[All studies side by side]({ATLAS_NAME}) is the atlas of them.",
    ]
    found = [path.parent for path in sorted(reports.glob(f"{PUBLISHED_FOLDER}/*/{REPORT_NAME}"))]
    for source in found:
        target = pages / PUBLISHED_FOLDER / source.name
        target.mkdir(parents=True)
        for each in source.iterdir():
            if each.name != SUMMARY_NAME:  # MkDocs would make a page of it
                (target / each.name).symlink_to(each.resolve())
        scorecard = read_scorecard(source / SCORECARD_NAME)
        link = f"{PUBLISHED_FOLDER}/{source.name}/{REPORT_NAME}"
        title, picture = _title_and_picture(source / REPORT_NAME)
        (target / PICTURE_NAME).write_text(picture, encoding="utf-8")
        shown = f"[![{title}]({PUBLISHED_FOLDER}/{source.name}/{PICTURE_NAME})]({link})"
        lines += ["", f"## {source.name}: {title}", "", shown, ""]
        lines += [f"[The report]({link}). {totals_sentence(scorecard)}"]
    (pages / PUBLISHED_PAGE).write_text("\n".join([*lines, ""]), encoding="utf-8")
    with (pages / "index.md").open("a", encoding="utf-8") as first:
        first.write(
            "\n".join(
                [
                    "",
                    "## What came of them",
                    *(each.replace("## ", "### ", 1) for each in lines[4:]),
                    "",
                ]
            )
        )
    return len(found)


def _title_and_picture(report: Path) -> tuple[str, str]:
    """The title of a report, and the first chart on it that needs no series, as SVG."""
    html = report.read_text(encoding="utf-8")
    title = re.findall(r"<h1[^>]*>(.*?)</h1>", html, re.DOTALL)[0]
    charts = {key: each for part in read_shards(report) for key, each in part["charts"].items()}
    shown = (charts.get(each) for each in re.findall(r'data-chart="([^"]+)"', html))
    chart = next(each for each in shown if each and "spec" in each)
    return title, svg_of(sized(chart["spec"], chart["labels"], PAGE_PT))


def _configured(root: Path, pages: Path, made: Path) -> Path:
    """A configuration for MkDocs with these folders, and the added page in the contents."""
    config = yaml.safe_load((root / CONFIG_NAME).read_text(encoding="utf-8"))
    config["docs_dir"], config["site_dir"] = str(pages), str(made)
    config["hooks"] = [str(root / each) for each in config["hooks"]]
    config["nav"].insert(1, {"Published reports": PUBLISHED_PAGE})
    path = pages.parent / CONFIG_NAME
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    return path


def _build(config: Path, packages: Path) -> None:
    try:
        done = run(
            [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(config)],
            _MOST_BUILDING_S,
            env={**os.environ, "PYTHONPATH": str(packages)},
        )
    except subprocess.TimeoutExpired:
        said = f"MkDocs did not end within {_MOST_BUILDING_S / 60:g} minutes"
        raise BdpbenchError(said, where="docs") from None
    if done.returncode != 0:
        said = "\n  ".join(["MkDocs refuses the pages", *done.stderr.strip().splitlines()])
        raise BdpbenchError(said, where="docs")


class _Links(HTMLParser):
    """The links of a page, what it loads, and the published reports that its script links."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.published: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = [(name, value) for name, value in attrs if value is not None]
        self.found += [(tag, value) for name, value in given if name in ("href", "src")]
        self.published += [value for name, value in given if name == "data-published"]


def dead_links(folder: Path) -> Iterator[str]:
    """Links of the pages in a folder that lead nowhere or out of it, and what is loaded from afar.

    A page may link the web, but must load nothing from there. Only relative links lead to the same
    file on a server, in any of its folders, and without one.
    """
    for page in sorted(folder.rglob("*.html")):
        links = _Links()
        links.feed(page.read_text(encoding="utf-8"))
        for tag, link in dict.fromkeys(links.found):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto"):
                is_dead = tag != "a"
            elif parts.scheme == "data":
                is_dead = False
            else:
                target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
                is_dead = bool(parts.scheme or parts.netloc or parts.path.startswith("/"))
                is_dead |= not (target.is_file() and target.is_relative_to(folder.resolve()))
            if is_dead:
                yield f"{page.relative_to(folder)}: {link}"
        for link in dict.fromkeys(links.published):
            parts = urlsplit(link)
            target = folder / PUBLISHED_FOLDER / unquote(parts.path)
            if f'id="{parts.fragment}"' not in (
                target.read_text(encoding="utf-8") if target.is_file() else ""
            ):
                yield f"{page.relative_to(folder)}: {link}"


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except BdpbenchError as error:
        sys.exit(f"error: {error}")
