"""Damage to names: variables, objects and files with a misread letter or sign."""

from __future__ import annotations

import difflib
import re

from bdpbench.recover.listing import Listing
from bdpbench.recover.tcl_text import (
    GIVEN_VARIABLES,
    code_of,
    command_words,
    mentions,
    reads,
    renamed,
    words_of,
)

# Methods that only one class of ns-2 has → this class.
METHODS = {"errormodels": "ErrorModule"}
# Names this short are one letter away from too many others.
_SHORTEST = 4
_ALIKE = 0.7


def restore_misread_words(listing: Listing) -> None:
    """Correct the name of a command, method or variable of ns-2 that differs by one letter.

    The misread name occurs once in all scripts, which have one author, and half of them have the
    other. Variables of the script are left to other rules, which know more about them.
    """
    several = listing.originals.headings.lower()
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
                    f"{word} occurs only here, {meant[0]} in at least half of the {several}",
                )


def restore_lost_dollars(listing: Listing) -> None:
    """Put ``$`` before a variable where only a command can occur; refuse any other word."""
    for index, text in listing.numbered():
        for word in command_words(text):
            if listing.is_command(word):
                continue
            if word not in listing.written(before=index):
                helper = listing.originals.helper_file
                known = f"Tcl, ns-2, {helper} or" if helper else "Tcl, ns-2 or"
                raise listing.refuse(index, f"{word!r} is no command of {known} this script")
            listing.change(
                index,
                re.sub(rf"(^\s*|\[\s*){re.escape(word)}(?=\s)", rf"\1${word}", text, count=1),
                f"{word} is a variable of this script and no command",
            )


def remove_surplus_dollars(listing: Listing) -> None:
    """Remove ``$`` from a letter of an array index that is not a variable but part of the index."""
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


def restore_misread_names(listing: Listing) -> None:
    """Rename a variable that is used but never set to one that differs by one letter.

    The right spelling is the one that the helper needs, or else the one that occurs more often in
    the script.
    """
    needed = listing.originals.helper_variables if listing.sources_helper else frozenset()
    for name in _never_set(listing, needed):
        if name in _never_set(listing, needed):  # an earlier repair may have given it a value
            _unify(listing, name, needed)


def _never_set(listing: Listing, needed: frozenset[str]) -> list[str]:
    used = [name for line in listing.lines for name in reads(line.text)]
    known = listing.written() | GIVEN_VARIABLES
    return [name for name in dict.fromkeys([*sorted(needed), *used]) if name not in known]


def _unify(listing: Listing, name: str, needed: frozenset[str]) -> None:
    other = _rival(listing, name, needed)
    counts = mentions(listing.lines)
    if name in needed or other in needed:
        right, reason = (
            (name if name in needed else other),
            f"{listing.originals.helper_file} needs this name",
        )
    else:
        right = max(name, other, key=lambda each: counts[each])
        reason = f"this name occurs {counts[right]} times"
        if counts[name] == counts[other]:
            raise listing.refuse(
                _first_use(listing, name), f"either {name} or {other} is misread, and none prevails"
            )
    wrong = other if right == name else name
    why = f"{name} is used and never set; {wrong} is {right}, misread by a letter ({reason})"
    for index, text in listing.numbered():
        new = renamed(text, wrong, right)
        if new != text:
            listing.change(index, new, why)


def _rival(listing: Listing, name: str, needed: frozenset[str]) -> str:
    """The one variable that is set and differs from ``name`` by one letter.

    Of several, it is the one that is never used, because its uses have the name ``name``.
    """
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


def restore_misread_objects(listing: Listing) -> None:
    """Replace an object that lacks a method by the similarly named object that has it."""
    classes = _classes(listing)
    for index, text in listing.numbered():
        for name, method in re.findall(r"\$(\w+)\s+(\w+)", code_of(text)):
            owner = METHODS.get(method)
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


def restore_misread_files(listing: Listing) -> None:
    """Correct the name of an output file that differs by one letter."""
    files = listing.originals.output_files
    several = listing.originals.headings.lower()
    for index, text in listing.numbered():
        for name in re.findall(r"[\w.]+\.(?:out|trq)\b", code_of(text)):
            meant = [each for each in files if _one_letter_apart(name, each)]
            if name not in files and len(meant) == 1:
                listing.change(
                    index,
                    text.replace(name, meant[0]),
                    f"the {several} write {meant[0]}; the contents stay the same under either name",
                )
