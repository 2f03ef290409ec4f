"""Later changes are listed with what they concern; nothing unknown is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.score.published import load_history

IDS = ["t1-a", "t1-b", "even"]
CHANGE = """\
- date: 2026-11-21
  commit: 0123abc
  what: bounds
  published: true
  of: [t1-*]
  before: wide
  after: narrow
  why: the print is exact
"""


def test_a_change_names_all_that_it_concerns(tmp_path: Path) -> None:
    path = tmp_path / "history.yaml"
    path.write_text(CHANGE)
    (change,) = load_history(path, IDS)
    assert change.document(IDS) == {
        "date": "2026-11-21",
        "commit": "0123abc",
        "what": "bounds",
        "published": True,
        "of": ["t1-a", "t1-b"],
        "before": "wide",
        "after": "narrow",
        "why": "the print is exact",
    }
    assert load_history(tmp_path / "none.yaml", IDS) == []


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("2026-11-21", "'2026-11'", r"yaml:1: 0\.date: expected a date such as 2026-11-21"),
        (
            "[t1-*]",
            "[t2-*]",
            r"yaml:5: 0\.of: no number or statement is called 't2-\*'\n.*list",
        ),
        ("[t1-*]", "[evn]", r"'evn'\n  hint: did you mean 'even'"),
        ("[t1-*]", "[]", r"0\.of: .*at least 1"),
        ("0123abc", "'012'", r"0\.commit: "),
        ("bounds", "nothing", r"0\.what: "),
        ("why:", "because:", r"because: unknown key"),
    ],
)
def test_a_slip_is_told(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    path = tmp_path / "history.yaml"
    path.write_text(CHANGE.replace(right, wrong))
    with pytest.raises(BdpbenchError, match=said):
        load_history(path, IDS)
