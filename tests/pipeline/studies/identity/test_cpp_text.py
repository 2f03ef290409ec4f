"""Comments of C++ are recognized as a compiler does; gcc's preprocessor is the reference."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.random_examples import examples

from bdpbench.errors import BdpbenchError
from bdpbench.studies.behaviour import changes_of, strip_cpp

ROOT = Path(__file__).resolve().parents[4]


def without_comments(text: str) -> str:
    """A file as gcc prints it after removing only comments; blanks are left out."""
    done = subprocess.run(
        ["gcc", "-fpreprocessed", "-dD", "-E", "-P", "-w", "-x", "c++", "-std=gnu++98", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    return re.sub(r"\s+", "", done.stdout)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int a; // one\n\n/* two\n three */\nint b;\n", "int a;\nint b;"),
        ('char* s = "/* kept */ // kept";', 'char* s = "/* kept */ // kept";'),
        ("char c = '\"'; // gone \"\nint a;", "char c = '\"';\nint a;"),
        ('char* s = "\\"// kept";', 'char* s = "\\"// kept";'),
        ("// goes \\\non\nint a;", "int a;"),
        ("int a/**/b;", "int a b;"),
        ("f(a, /* which */ b)", "f(a,b)"),
        ("#define F (x) // why\n#define G(x) x", "#define F (x)\n#define G(x) x"),
        ("#include <a//b.h> // why", "#include <a//b.h>"),
        ('x = R"(// kept)";', 'x = R"(// kept)";'),
        ("end of */ a comment", "end of */ a comment"),
        ("start /* of a comment", "start /* of a comment"),
        ("a = b / c; // d / e", "a = b / c;"),
        ("a + +b - -c", "a + +b - -c"),
    ],
)
def test_what_is_a_comment(text: str, expected: str) -> None:
    assert strip_cpp(text) == expected


SOURCES = sorted(path for name in ("laws", "agents") for path in (ROOT / "ns2" / name).iterdir())


def test_the_sources_lose_their_comments_and_nothing_else() -> None:
    for path in SOURCES:
        text = path.read_text().replace("\\\n", "")
        stripped = strip_cpp(text)
        assert re.sub(r"\s+", "", stripped) == without_comments(text) != "", path
        assert "//" not in re.sub(r'"[^"\n]*"', "", stripped), path
        assert strip_cpp(stripped) == stripped, path


PIECES = ["a", "1", "/", "*", "//", "/*", "*/", '"', "'", "\\", "\n", " ", "\\\n", "(", ";", "+"]


@examples(25)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_any_text_loses_comments_and_nothing_else(text: str) -> None:
    if re.search(r"/\*(?!.*\*/)", text, re.DOTALL):  # gcc refuses a comment that is not closed
        return
    plain = re.sub(r"\\\n", "", text)
    assert without_comments(strip_cpp(text)) == without_comments(plain) or "\\" in text


# ---------------------------------------------------------------- patches

PATCH = """Prose: --- not a file
--- a/tcp/tcp.cc\t2011-01-01
+++ b/tcp/tcp.cc
@@ -10,3 +10,4 @@ void TcpAgent::reset()
 \tint a;\t// old
-\tint b;
+\tint b = 1;\t// new
+\tint c;
 }
"""


def test_a_patch_is_what_it_changes() -> None:
    assert changes_of(PATCH, "x") == [
        ["tcp/tcp.cc", "int a;\nint b;\n}", "int a;\nint b = 1;\nint c;\n}"]
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Prose", "Other words"),
        ("@@ -10,3 +10,4 @@ void", "@@ -1,3 +2,4 @@ int"),
        ("// new", "// newer"),
        ("\t2011-01-01", ""),
        ("--- a/tcp/tcp.cc", "index 123..456 100644\n--- a/tcp/tcp.cc"),
    ],
)
def test_words_around_a_change_are_no_part_of_it(old: str, new: str) -> None:
    assert changes_of(PATCH.replace(old, new), "x") == changes_of(PATCH, "x")


@pytest.mark.parametrize(
    ("old", "new"), [("b = 1", "b = 2"), ("int a", "int d"), ("tcp.cc", "o.cc")]
)
def test_code_and_place_of_a_change_are_part_of_it(old: str, new: str) -> None:
    assert changes_of(PATCH.replace(old, new), "x") != changes_of(PATCH, "x")


def test_a_hunk_of_comments_is_no_change() -> None:
    assert changes_of("--- a/x.cc\n+++ b/x.cc\n@@ -1 +1,2 @@\n int a;\n+// more\n", "x") == []


def test_half_a_comment_is_code() -> None:
    """It might comment out the text between this hunk and another."""
    patch = "--- a/x.cc\n+++ b/x.cc\n@@ -1 +1,2 @@\n int a;\n+/* from here\n"
    assert [after for _, _, after in changes_of(patch, "x")] == ["int a;\n/* from here"]


def test_removed_lines_that_look_like_heads_are_lines() -> None:
    patch = "--- a/x.cc\n+++ b/x.cc\n@@ -1,2 +1 @@\n-- i;\n--- j;\n+k;\n"
    assert changes_of(patch, "x") == [["x.cc", "- i;\n-- j;", "k;"]]


def test_a_file_that_is_new_is_named() -> None:
    patch = "--- /dev/null\n+++ b/common/new.cc\n@@ -0,0 +1 @@\n+int a;\n"
    assert changes_of(patch, "x") == [["common/new.cc", "", "int a;"]]


def test_a_cut_patch_is_refused() -> None:
    with pytest.raises(BdpbenchError, match=r"here.patch: a hunk has other lines"):
        changes_of(PATCH.removesuffix(" }\n"), "here.patch")


def test_every_hunk_of_the_series_is_read() -> None:
    for path in (ROOT / "ns2" / "patches").rglob("*.patch"):
        text = path.read_text()
        hunks = len(re.findall(r"(?m)^@@ ", text))
        assert len(changes_of(text, path.name)) == hunks > 0, path.name
