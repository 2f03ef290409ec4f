"""What says that it can be clicked does something when it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from bdpbench.pages.texts import Matrix

# A cell of several runs opens the first of them.
MEANS: dict[str, Any] = {
    "scenario": "buffer_size",
    "metric": "utilization",
    "rows": {"parameter": "protocol", "title": "protocol"},
    "columns": {"parameter": "rtt_ms", "title": "RTT"},
    "mean_over": ["buffer_pkts"],
}

# Anything that a click may do: the page or its address changes, or a file is saved.
WATCH = """() => {
    window.did = [];
    const note = (what) => () => window.did.push(what);
    new MutationObserver(note("change")).observe(document.body,
        { subtree: true, childList: true, attributes: true, characterData: true });
    addEventListener("hashchange", note("address"));
    document.addEventListener("toggle", note("toggle"), true);
    document.addEventListener("input", note("input"), true);
    const saved = URL.createObjectURL;
    URL.createObjectURL = (blob) => { note("file")(); return saved.call(URL, blob); };
}"""

# One of each kind: of the marks of each chart with a hand as pointer, by their group; of all else
# by its class and words, without numbers.
KINDS = """() => {
    const kinds = new Map();
    const add = (kind, each) => { if (!kinds.has(kind)) kinds.set(kind, each); };
    for (const each of document.querySelectorAll("svg.marks :is(path, text, rect)")) {
        // Vega keeps what a mark is beside its element, the pointer too.
        const { cursor } = each.__data__ || {};
        if (cursor !== "pointer" || !each.getBoundingClientRect().width) continue;
        const canvas = each.closest(".canvas");
        const group = each.closest("g[class*=role-mark], g[class*=role-legend]") || each.parentNode;
        // Charts over time are drawn alike.
        const chart = canvas.dataset.chart.replace(/^(run-|.*-\\d+-).*/, "over time");
        add(`${chart} ${group.getAttribute("class")}`, each);
    }
    for (const each of document.querySelectorAll("button, summary, a[href^='#']")) {
        if (each.closest("svg") || !each.checkVisibility() || each.closest("nav")) continue;
        const words = each.textContent.replace(/[\\d.,]+/g, "").trim().slice(0, 20);
        add(`${each.tagName} ${each.className} ${each.dataset.sort || ""} ${words}`, each);
    }
    [...kinds.values()].forEach((each, n) => each.setAttribute("data-click", n));
    return [...kinds.keys()];
}"""


# Clicks on each, and returns the kinds of those that nothing followed in a second.
CLICK = """async (kinds) => {
    const idle = [];
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
    for (const [n, kind] of kinds.entries()) {
        const each = document.querySelector(`[data-click="${n}"]`);
        history.replaceState(null, "", "#");
        each.scrollIntoView({ block: "center", behavior: "instant" });
        await pause(0);
        window.did = [];
        const { left, top, width, height } = each.getBoundingClientRect();
        const isMark = each.closest("svg, .vega-actions");
        if (isMark) await window.clickAt(left + width / 2, top + height / 2);
        else each.click();
        for (let waited = 0; !window.did.length && waited < 100; waited += 1) await pause(10);
        if (!window.did.length) idle.push(kind);
    }
    return idle;
}"""


@pytest.fixture(scope="module")
def clickable(made_once: Callable[..., Path], synthetic: Any) -> Path:
    """The synthetic report with a matrix of means beside its charts of all other kinds."""

    def make(folder: Path) -> None:
        inputs = synthetic.synthetic_inputs()
        inputs.study = inputs.study.__class__(
            **{**vars(inputs.study), "matrices": [Matrix.model_validate(MEANS)]}
        )
        inputs.build(folder / "synthetic" / "quick" / "report.html")

    return made_once("clickable", make) / "synthetic" / "quick" / "report.html"


def test_one_of_everything_that_says_so_can_be_clicked(visit: Any, clickable: Path) -> None:
    page = visit.open(clickable, "?all")
    expect(page.locator("details.run:not([open])")).to_have_count(0)  # their charts are there now
    expect(page.locator('.canvas[data-drawn="yes"]')).to_have_count(page.locator(".canvas").count())
    page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    kinds = page.evaluate(KINDS)
    assert any(kind.startswith("pairs-buffer_size-0 mark-rect") for kind in kinds)
    page.evaluate(WATCH)
    page.expose_function("clickAt", page.mouse.click)
    assert page.evaluate(CLICK, kinds) == []
