"""The rules, one for each kind of damage, in the order in which they are applied.

Their texts and those of their repairs are what readers of a recovery see.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tcl.sharma2006.recover.listing import (
    GIVEN_VARIABLES,
    Listing,
    code_of,
    command_words,
    has_comment,
    is_comment,
    open_brackets,
    read_structure,
    reads,
    renamed,
    words_of,
)
from tcl.sharma2006.recover.printed import HELPER_NAME, OUTPUT_FILES

_FENCE = re.compile(r"^\s*(```|~~~)\s*\w*\s*$")
_PAGE_NUMBER = re.compile(r"^\s*\d{1,3}\s*$")
_TYPOGRAPHY = str.maketrans(
    {
        "“": '"',
        "”": '"',
        "„": '"',
        "‘": "'",
        "’": "'",
        "–": "-",
        "—": "-",
        "−": "-",
        "\u00a0": " ",
        "\u00ad": "",
        "\ufb00": "ff",
        "\ufb01": "fi",
        "\ufb02": "fl",
    }
)
# Only comments that reach the margin are wrapped; shorter lines end where their author ended them.
_MARGIN = 60
_LONGEST_WRAP = 4
_GLUED_VALUE = re.compile(r"^(\s*[A-Z]\w*(?:/\w+)+\s+set\s+[A-Za-z]\w*?_)(\d[\d.]*)(\s*;?\s*)$")
# Methods that only one class of ns-2 has → this class.
_METHODS = {"errormodels": "ErrorModule"}
# Names this short are one letter away from too many others.
_SHORTEST = 4
_ALIKE = 0.7
_LINK = re.compile(r"^\s*\$ns\s+duplex-link\s+(\S+)\s+(\S+)\s")
_QUEUE_LIMIT = re.compile(r"^\s*\$ns\s+queue-limit\s+(\S+)\s+(\S+)\s")


@dataclass(frozen=True)
class Rule:
    """How one kind of damage is found and repaired.

    Attributes:
        rule_id: name in the reports.
        damage: what scanning did.
        reason: how the damage is distinguished from the author's own text.
        apply: repairs a listing; raises BdpbenchError if the damage has no certain repair.
    """

    rule_id: str
    damage: str
    reason: str
    apply: Callable[[Listing], None]


RULES: list[Rule] = []
"""All rules, in the order of their declaration, in which they are applied."""


def rule(
    rule_id: str, damage: str, reason: str
) -> Callable[[Callable[[Listing], None]], Callable[[Listing], None]]:
    """Declare a function as the rule that repairs a kind of damage; see ``Rule``."""

    def declare(apply: Callable[[Listing], None]) -> Callable[[Listing], None]:
        RULES.append(Rule(rule_id, damage, reason, apply))
        return apply

    return declare


# ---------------------------------------------------------------- the layout of pages


@rule(
    "page-furniture",
    "Code fences, page numbers and form feeds stand among the lines.",
    "They belong to the page, not to the script.",
)
def _remove_page_furniture(listing: Listing) -> None:
    """Blank lines at the end go as well."""
    for index, text in reversed(list(listing.numbered())):
        if _FENCE.match(text) or "\f" in text:
            listing.page_breaks.append(listing.lines[index].number)
        if _FENCE.match(text):
            listing.remove(index, "a code fence marks where text was set as code; it is not Tcl")
        elif _PAGE_NUMBER.match(text) and _ends_page(listing, index):
            listing.remove(index, "a number alone before a new page is the number of the page")
        elif "\f" in text:
            listing.change(index, text.replace("\f", ""), "a form feed starts a page")
    while listing.lines and not listing.lines[-1].text.strip():
        listing.lines.pop()


def _ends_page(listing: Listing, index: int) -> bool:
    following = listing.following(index)
    if following is None:
        return True
    number, next_number = listing.lines[index].number, listing.lines[following].number
    return any(number < each <= next_number for each in listing.page_breaks)


@rule(
    "typography",
    "Quotes, dashes, blanks and letter pairs were set typographically.",
    "Tcl and ns-2 know only ASCII quotes, minus signs and blanks.",
)
def _restore_typography(listing: Listing) -> None:
    for index, text in listing.numbered():
        plain = text.translate(_TYPOGRAPHY)
        if plain != text:
            listing.change(index, plain, "Tcl knows only the plain forms of these characters")


@rule(
    "wrapped-command",
    "A command was broken at the margin, inside brackets.",
    "In Tcl a new line ends a command, in brackets too; a command is whole on one line.",
)
def _join_wrapped_commands(listing: Listing) -> None:
    """Commands in comments are wrapped as well; a comment whose bracket stays open is prose."""
    index = 0
    while index < len(listing.lines):
        if open_brackets(listing.lines[index].text) > 0:
            count = _closing_lines(listing, index)
            if not count and not is_comment(listing.lines[index].text):
                raise listing.refuse(index, "opens a bracket that no following line closes")
            for _ in range(count):
                listing.join(index, "a new line would end the command inside the open bracket")
        index += 1


def _closing_lines(listing: Listing, index: int) -> int:
    """How many of the following lines close the brackets of a line; 0 if they stay open."""
    depth = open_brackets(listing.lines[index].text)
    for count in range(1, _LONGEST_WRAP + 1):
        following = listing.following(index)
        if following is None or is_comment(listing.lines[following].text):
            return 0
        index = following
        depth += open_brackets(listing.lines[index].text)
        if depth <= 0:
            return count
    return 0


@rule(
    "wrapped-comment",
    "A comment was broken at the margin.",
    "Its rest would be a command, but starts with none and has no Tcl sign in it.",
)
def _join_wrapped_comments(listing: Listing) -> None:
    index = 0
    while index < len(listing.lines) - 1:
        text = listing.lines[index].text.rstrip()
        if has_comment(text) and len(text) >= _MARGIN and _is_prose(listing, index + 1):
            why = "it starts with no command and has no Tcl in it: the rest of the comment above"
            listing.join(index, why)
        else:
            index += 1


def _is_prose(listing: Listing, index: int) -> bool:
    words = listing.lines[index].text.split()
    if not words or re.search(r"[\[\]{}$#;\"]", listing.lines[index].text):
        return False
    return not listing.is_command(words[0]) and words[0] not in listing.written(before=index)


@rule(
    "lost-blank",
    "The blank between a variable of ns-2 and its value was lost.",
    "Such names end with an underscore; a number behind it is the value.",
)
def _restore_lost_blanks(listing: Listing) -> None:
    for index, text in listing.numbered():
        if found := _GLUED_VALUE.match(text):
            listing.change(
                index,
                " ".join(found.group(1, 2)) + found.group(3),
                "names of ns-2's variables end with an underscore, and without a value the line"
                " would set nothing",
            )


# ---------------------------------------------------------------- names


@rule(
    "misread-word",
    "One letter of a command, a method or a variable of ns-2 was misread, lost or added.",
    "It occurs once in all scripts, and exactly one word that half of them have differs"
    " from it by one letter.",
)
def _restore_misread_words(listing: Listing) -> None:
    """Variables of the script are left to other rules, which know more about them."""
    variables = listing.written().union(*(reads(line.text) for line in listing.lines))
    for index, text in listing.numbered():
        for word in words_of(text):
            if word in variables or word not in listing.vocabulary.single:
                continue
            meant = [each for each in listing.vocabulary.common if _one_letter_apart(word, each)]
            if len(meant) == 1:
                listing.change(
                    index,
                    renamed(listing.lines[index].text, word, meant[0]),
                    f"{word} occurs only here, {meant[0]} in at least half of the appendices",
                )


@rule(
    "lost-dollar",
    "The $ before a variable was lost.",
    "A variable of the script stands where only a command can. Another word there is refused.",
)
def _restore_lost_dollars(listing: Listing) -> None:
    for index, text in listing.numbered():
        for word in command_words(text):
            if listing.is_command(word):
                continue
            if word not in listing.written(before=index):
                known = f"Tcl, ns-2, {HELPER_NAME} or this script"
                raise listing.refuse(index, f"{word!r} is not a command of {known}")
            listing.change(
                index,
                re.sub(rf"(^\s*|\[\s*){re.escape(word)}(?=\s)", rf"\1${word}", text, count=1),
                f"{word} is a variable of this script and no command",
            )


@rule(
    "surplus-dollar",
    "A $ was read before a letter of an array index.",
    "No variable has this name, and other lines use the element without the $.",
)
def _remove_surplus_dollars(listing: Listing) -> None:
    known = listing.written() | GIVEN_VARIABLES
    for index, text in listing.numbered():
        for array, letter in re.findall(r"\$(\w+)\(\$([a-z])(?=\$)", code_of(text)):
            meant = re.compile(rf"\b{array}\({letter}\$")
            if letter not in known and any(meant.search(line.text) for line in listing.lines):
                listing.change(
                    index,
                    listing.lines[index].text.replace(f"{array}(${letter}$", f"{array}({letter}$"),
                    f"no variable is called {letter}; other lines have {array}({letter}...)",
                )


@rule(
    "misread-name",
    "One letter of a variable was misread, lost or added.",
    "The variable is used and never set, and exactly one that is set differs from it by one"
    " letter. Right is what the sourced helper needs, else what occurs more often.",
)
def _restore_misread_names(listing: Listing) -> None:
    for name in _never_set(listing):
        if name in _never_set(listing):  # an earlier repair may have given it a value
            _unify(listing, name)


def _never_set(listing: Listing) -> list[str]:
    used = [name for line in listing.lines for name in reads(line.text)]
    known = listing.written() | GIVEN_VARIABLES
    return [name for name in dict.fromkeys([*sorted(listing.needed), *used]) if name not in known]


def _unify(listing: Listing, name: str) -> None:
    """Give a variable that is never set and the one that it was meant to be the same name."""
    other, needed = _rival(listing, name), listing.needed
    counts = Counter(
        word for line in listing.lines for word in re.findall(r"\w+", code_of(line.text))
    )
    if name in needed or other in needed:
        right = name if name in needed else other
        reason = f"{HELPER_NAME} needs this name"
    elif counts[name] == counts[other]:
        said = f"either {name} or {other} is misread, and none prevails"
        raise listing.refuse(_first_use(listing, name), said)
    else:
        right = max(name, other, key=lambda each: counts[each])
        reason = f"this name occurs {counts[right]} times"
    wrong = other if right == name else name
    why = f"{name} is used and never set; {wrong} is {right}, misread by a letter ({reason})"
    for index, text in listing.numbered():
        new = renamed(text, wrong, right)
        if new != text:
            listing.change(index, new, why)


def _rival(listing: Listing, name: str) -> str:
    """The one variable that is set and differs from ``name`` by one letter.

    Of several, it is the one that is never used, because its uses have the name ``name``.
    """
    needed = listing.needed
    used = {each for line in listing.lines for each in reads(line.text)} | needed
    alike = [
        other
        for other in sorted(listing.written())
        if _one_letter_apart(name, other) and not (name in needed and other in needed)
    ]
    rivals = [other for other in alike if other not in used] if len(alike) > 1 else alike
    if len(rivals) != 1:
        which = f"; it may be each of {', '.join(alike)}" if alike else ""
        raise listing.refuse(_first_use(listing, name), f"uses {name}, which is never set{which}")
    return rivals[0]


def _first_use(listing: Listing, name: str) -> int:
    """Index of the first line that uses a variable; the first line if only the helper uses it."""
    return next((index for index, text in listing.numbered() if name in reads(text)), 0)


def _one_letter_apart(a: str, b: str) -> bool:
    """Whether two names differ by one misread, lost or added letter; case is ignored.

    Digits do not count as misread: n1 and n2 are different things.
    """
    if min(len(a), len(b)) < _SHORTEST:
        return False
    if re.sub(r"\D", "", a) != re.sub(r"\D", "", b):
        return False
    shorter, longer = sorted((a.lower(), b.lower()), key=len)
    if len(shorter) == len(longer):
        return a != b and sum(x != y for x, y in zip(shorter, longer, strict=True)) <= 1
    return len(longer) - len(shorter) == 1 and any(
        longer[:cut] + longer[cut + 1 :] == shorter for cut in range(len(longer))
    )


@rule(
    "misread-object",
    "A variable was read as another one that looks like it.",
    "The object is asked for a method that only another class of ns-2 has, and a variable that"
    " looks like it holds an object of that class.",
)
def _restore_misread_objects(listing: Listing) -> None:
    classes = _classes(listing)
    for index, text in listing.numbered():
        for name, method in re.findall(r"\$(\w+)\s+(\w+)", code_of(text)):
            owner = _METHODS.get(method)
            if owner is None or classes.get(name, owner) == owner:
                continue
            objects = [each for each, cls in classes.items() if cls == owner]
            alike = difflib.get_close_matches(name, objects, n=1, cutoff=_ALIKE)
            if not alike:
                raise listing.refuse(index, f"{name} is a {classes[name]}, which has no {method}")
            listing.change(
                index,
                text.replace(f"${name} {method}", f"${alike[0]} {method}"),
                f"{method} is a method of {owner}: {name} is a {classes[name]}, {alike[0]} is an"
                f" {owner}",
            )


def _classes(listing: Listing) -> dict[str, str]:
    """Variable → class of the object in it, at its first setting."""
    found: dict[str, str] = {}
    for line in listing.lines:
        made = re.match(r"\s*set\s+(\w+)\s+\[new\s+([\w/]+)", code_of(line.text))
        if made:
            found.setdefault(made.group(1), made.group(2))
        asked = re.match(r"\s*set\s+(\w+)\s+\[\$\w+ errormodule\]", code_of(line.text))
        if asked:
            found.setdefault(asked.group(1), "ErrorModule")
    return found


@rule(
    "misread-file",
    "One letter of an output file's name was misread, lost or added.",
    "Exactly one output file of the scripts differs from it by one letter.",
)
def _restore_misread_files(listing: Listing) -> None:
    for index, text in listing.numbered():
        for name in re.findall(r"[\w.]+\.(?:out|trq)\b", code_of(text)):
            meant = [each for each in OUTPUT_FILES if _one_letter_apart(name, each)]
            if name not in OUTPUT_FILES and len(meant) == 1:
                listing.change(
                    index,
                    text.replace(name, meant[0]),
                    f"the appendices write {meant[0]};"
                    " the contents stay the same under either name",
                )


# ---------------------------------------------------------------- links and blocks


@rule(
    "commented-link",
    "The line that makes a link was read as a part of the comment above it.",
    "The script sets the queue limit of this link, which nothing else makes.",
)
def _restore_commented_links(listing: Listing) -> None:
    written = listing.written() | GIVEN_VARIABLES
    for index, text in listing.numbered():
        nodes = _nodes(_QUEUE_LIMIT, text)
        if not nodes or any(_nodes(_LINK, line.text) == nodes for line in listing.lines):
            continue
        bare = {i: re.sub(r"^(\s*)#\s*", r"\1", line) for i, line in listing.numbered()}
        makers = [
            (i, line)
            for i, line in bare.items()
            if _nodes(_LINK, line) == nodes and all(name in written for name in reads(line))
        ]
        if len(makers) != 1:
            raise listing.refuse(
                index, "limits the queue of a link that no line, or no single comment, makes"
            )
        listing.change(
            *makers[0],
            f"line {listing.lines[index].number} needs this link, and of the comments that would"
            " make it this is the only one whose variables are set",
        )


def _nodes(command: re.Pattern[str], text: str) -> set[str]:
    """The two nodes that a command of ns-2 names; none if the line is another command."""
    found = command.match(text)
    return set(found.groups()) if found else set()


@dataclass
class _Row:
    """A row of closing lines with only blank lines between them.

    Attributes:
        lone: lines of the copy that consist of ``}``, without those removed since.
        at_page_end: whether a page ends in the row, right before it or right after it.
    """

    lone: list[int]
    at_page_end: bool


@rule(
    "surplus-brace",
    "Closing braces were added, mostly where a page ends inside a block.",
    "A later line closes or continues the block that the added brace has closed already.",
)
def _remove_surplus_braces(listing: Listing) -> None:
    """Remove closing braces until no line closes or continues a block that is not open.

    A line without its block shows that there is a surplus brace above it, but not which one.
    Surplus braces come in rows: where a page ends inside a block, all open blocks were closed
    although they continue. So the last brace is removed from the nearest row at the end of a page,
    or else from the nearest row.
    """
    rows = _rows(listing)
    while (fault := read_structure(listing.lines).fault) is not None:
        number = listing.lines[fault].number
        above = [row for row in rows if row.lone and row.lone[-1] <= number]
        if not above:
            raise listing.refuse(
                fault, "closes a block that is not open, and no row of closing braces is above it"
            )
        row = max(above, key=lambda each: (each.at_page_end, each.lone[-1]))
        surplus = row.lone.pop()
        where = "where a page ends" if row.at_page_end else "in a row of closing braces"
        listing.remove(
            next(i for i, line in enumerate(listing.lines) if line.number == surplus),
            f"it stands {where}, and line {number} closes or continues the block again",
        )
    unclosed = read_structure(listing.lines).unclosed
    if unclosed:
        raise listing.refuse(unclosed[-1].opened, "opens a block that is never closed")


def _rows(listing: Listing) -> list[_Row]:
    rows: list[_Row] = []
    filled = [line for line in listing.lines if line.text.strip()]
    closing = [line.text.strip().startswith("}") for line in filled]
    start = 0
    while start < len(filled):
        end = start
        while end < len(filled) and closing[end]:
            end += 1
        if end - start >= 2:
            lone = [line.number for line in filled[start:end] if line.text.strip() == "}"]
            first = filled[max(start - 1, 0)].number
            last = filled[end].number if end < len(filled) else filled[-1].number
            rows.append(_Row(lone, any(first < each <= last for each in listing.page_breaks)))
        start = end + 1
    return rows
