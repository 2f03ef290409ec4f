"""The rules, one for each kind of damage, in the order in which they are applied."""

from __future__ import annotations

from bdpbench.recover.block_rules import remove_surplus_braces, restore_commented_links
from bdpbench.recover.layout_rules import (
    join_wrapped_commands,
    join_wrapped_comments,
    remove_page_furniture,
    restore_lost_blanks,
    restore_typography,
)
from bdpbench.recover.listing import Rule
from bdpbench.recover.name_rules import (
    remove_surplus_dollars,
    restore_lost_dollars,
    restore_misread_files,
    restore_misread_names,
    restore_misread_objects,
    restore_misread_words,
)

RULES = (
    Rule(
        "page-furniture",
        "Code fences, page numbers and form feeds stand among the lines.",
        "They belong to the page, not to the script.",
        remove_page_furniture,
    ),
    Rule(
        "typography",
        "Quotes, dashes, blanks and letter pairs were set typographically.",
        "Tcl and ns-2 know only ASCII quotes, minus signs and blanks.",
        restore_typography,
    ),
    Rule(
        "wrapped-command",
        "A command was broken at the margin, inside brackets.",
        "In Tcl a new line ends a command, in brackets too; a command is whole on one line.",
        join_wrapped_commands,
    ),
    Rule(
        "wrapped-comment",
        "A comment was broken at the margin.",
        "Its rest would be a command, but starts with none and has no Tcl sign in it.",
        join_wrapped_comments,
    ),
    Rule(
        "lost-blank",
        "The blank between a variable of ns-2 and its value was lost.",
        "Such names end with an underscore; a number behind it is the value.",
        restore_lost_blanks,
    ),
    Rule(
        "misread-word",
        "One letter of a command, a method or a variable of ns-2 was misread, lost or added.",
        "It occurs once in all scripts, and exactly one word that half of them have differs"
        " from it by one letter.",
        restore_misread_words,
    ),
    Rule(
        "lost-dollar",
        "The $ before a variable was lost.",
        "A variable of the script stands where only a command can. Another word there is refused.",
        restore_lost_dollars,
    ),
    Rule(
        "surplus-dollar",
        "A $ was read before a letter of an array index.",
        "No variable has this name, and other lines use the element without the $.",
        remove_surplus_dollars,
    ),
    Rule(
        "misread-name",
        "One letter of a variable was misread, lost or added.",
        "The variable is used and never set, and exactly one that is set differs from it by one"
        " letter. Right is what the sourced helper needs, else what occurs more often.",
        restore_misread_names,
    ),
    Rule(
        "misread-object",
        "A variable was read as another one that looks like it.",
        "The object is asked for a method that only another class of ns-2 has, and a variable that"
        " looks like it holds an object of that class.",
        restore_misread_objects,
    ),
    Rule(
        "misread-file",
        "One letter of an output file's name was misread, lost or added.",
        "Exactly one output file of the scripts differs from it by one letter.",
        restore_misread_files,
    ),
    Rule(
        "commented-link",
        "The line that makes a link was read as a part of the comment above it.",
        "The script sets the queue limit of this link, which nothing else makes.",
        restore_commented_links,
    ),
    Rule(
        "surplus-brace",
        "Closing braces were added, mostly where a page ends inside a block.",
        "A later line closes or continues the block that the added brace has closed already.",
        remove_surplus_braces,
    ),
)
