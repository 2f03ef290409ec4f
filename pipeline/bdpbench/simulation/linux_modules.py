"""Congestion control modules of Linux, compiled unchanged into libraries of ``Agent/TCP/Protocol``.

A module is compiled behind ``ns2/linux/kernel_api.h``, which has what kernels 2.6.13 to 6.10 offer,
and before ``bridge.c``, which plays the kernel: one file of C, so that the bridge sees the module's
functions. Which generation they are of follows from their types, which the compiler compares: no
key names a version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bdpbench.contracts.files import utf8_text
from bdpbench.contracts.paths import kernel_dir
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.studies.folders import ProtocolFolder

FLAGS = (
    "-std=gnu11", "-fgnu89-inline", "-O2", "-g1", "-fPIC", "-fvisibility=hidden", "-fsigned-char",
    "-ffp-contract=off", "-fno-strict-aliasing", "-fno-delete-null-pointer-checks", "-fwrapv",
    "-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion", "-Werror=date-time",
)  # fmt: skip
"""The kernel's C, where old and new modules agree: 5.18 needs C11, old ones the inline of 1989."""

PREFIX = "module_"
"""Variables of parameters begin with it: CDG's ``window`` would be Agent/TCP's ``window_``."""

BESIDE = "with"
"""The subfolder with files of other modules whose functions a module calls."""

HINT = (
    "modules have the interface of Linux 2.6.13 to 6.10 in ns2/linux/kernel_api.h; "
    "docs/protocols.md says what it leaves out"
)

# Headers of C, which modules may include; all others in <> are the kernel's.
_OF_C = frozenset(
    f"{name}.h" for name in ("errno", "limits", "math", "stdarg", "stdbool", "stddef", "stdint")
)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(<[^>\n]+>|\"[^\"\n]+\")", re.MULTILINE)
OF_A_KERNEL = re.compile(r"(?:\.\./)*(?:ns-linux-\w+|vmlinux|bpf_\w+)\.h")
_KCONFIG = re.compile(r"^extern[^;\n]*__kconfig;", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_OPS = re.compile(r"\bstruct\s+tcp_congestion_ops\s+(\w+)[^=;{}]*=\s*\{(.*?)\};", re.DOTALL)
_FIELD = re.compile(r"\.(cong_avoid|pkts_acked|cong_control)\s*=\s*(?:\(void\s*\*\)\s*)?(\w+)")
_DEFINED = re.compile(r"^(?:[A-Za-z_][\w \t*]*?[ \t*\n])(\w+)\s*\([^;{}()]*\)\s*\{", re.MULTILINE)
_STRUCTURE = re.compile(r"^\s*(?:struct|enum|union)\s+(\w+)\s*\{", re.MULTILINE)
_OF_API = re.compile(r"^(?:#define (\w+)|(?:api|extern)\b[^(\n]*?\b(\w+)\()", re.MULTILINE)
_PARAMETER = re.compile(
    r"(?:^|;)\s*module_param(?:_named|_cb)?\s*\(\s*(\w+)\s*,(?:\s*&?\w+\s*,)?\s*&?\s*(\w+)\s*,\s*\w+\s*\)",
    re.MULTILINE,
)


def parameters_of(module: Path) -> dict[str, int]:
    """Parameters that a module declares, in their order, and the lines that do; texts are none."""
    text = utf8_text(module)
    return {
        found[1]: text.count("\n", 0, found.start(1)) + 1
        for found in _PARAMETER.finditer(text)
        if found[2] != "charp"
    }


def write_sources(module: Path, code: Path, work: Path) -> list[Path]:
    """Write the files of C that a module's library is made of.

    Args:
        module: its file in ``code``.
        code: a copy of its folder.
        work: an empty folder for them, with empty headers in ``work/one/two/three``.

    Returns:
        Files to compile: that of the module, and one for each in ``with/``.
    """
    beside = sorted((code / BESIDE).glob("*.c"))
    inner = work / "one" / "two" / "three"
    inner.mkdir(parents=True)
    made = []
    for path in [module, *beside]:
        raw = utf8_text(path)
        path.write_text(_KCONFIG.sub("", raw), encoding="utf-8")  # macros of the interface
        text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), raw)
        replace_headers(text, inner)
        wrapper = work / f"wrapped_{path.name}"
        wrapper.write_text("\n".join(_wrapped(path, text, is_beside=path != module)) + "\n")
        made.append(wrapper)
    for header in code.rglob("*.h"):
        replace_headers(utf8_text(header), inner)
    return made


def declared_parameters(folder: ProtocolFolder, module: Path) -> list[str]:
    """The module's parameters that ``protocol.yaml`` has; others keep the module's defaults.

    Raises:
        BdpbenchError: naming the line of one that the module does not have.
    """
    known = parameters_of(module)
    names = []
    for index, each in enumerate(folder.file.parameters):
        if not each.variable:
            continue
        names.append(each.variable[len(PREFIX) : -1])
        if not each.variable.startswith(PREFIX) or names[-1] not in known:
            said = f"{module.name} has no module_param of the name {each.variable}"
            expected = ", ".join(f"{PREFIX}{name}_" for name in known) or "no parameter"
            hint = (
                f"expected {expected}; arrays and texts keep the module's values, and with "
                "`sender: tcp-linux` names have no prefix"
            )
            source = YamlFile(folder.path / folder.yaml_name)
            raise source.error(("parameters", index, "variable"), said, hint=hint)
    return names


def _wrapped(path: Path, text: str, *, is_beside: bool) -> Iterator[str]:
    if "skb_mstamp" in text:
        yield "#define MODULE_HAS_SKB_MSTAMP"
    if is_beside:
        yield "#define MODULE_BESIDE"
    fields = [pair for _, body in _OPS.findall(text) for pair in _FIELD.findall(body)]
    if any(_counts_flight(text, name) for op, name in fields if op == "cong_avoid"):
        yield "#define MODULE_COUNTS_FLIGHT"
    header = utf8_text(kernel_dir() / "kernel_api.h")
    own = {*_DEFINED.findall(text)} & {name for pair in _OF_API.findall(header) for name in pair}
    own = {name for name in own if not name.isupper()}  # macros that look like functions
    own |= {*_STRUCTURE.findall(text)} & {*_STRUCTURE.findall(header)}
    yield from (f"#define {name} hidden_{name}" for name in own)
    yield '#include "kernel_api.h"'
    yield from (f"#undef {name}" for name in own)
    yield f'#include "{path}"'
    if is_beside:
        return
    yield "#define MODULE_ROWS " + " ".join(_rows(text))
    if "module_init" not in text:
        yield from (f"#define MODULE_OPS {name}" for name in _programs(text)[:1])
    yield '#include "bridge.c"'


def _counts_flight(text: str, name: str) -> bool:
    """Whether the third parameter of a cong_avoid is what is in flight, as from 2.6.23 to 3.12."""
    head = re.search(rf"\b{name}\s*\(([^()]*)\)\s*\{{", text)
    parameters = head[1].split(",") if head else []
    return len(parameters) > 2 and "flight" in parameters[2]


def _rows(text: str) -> Iterator[str]:
    kinds = {"cong_avoid": "AVOID_FORM", "pkts_acked": "ACKED_FORM", "cong_control": "CONTROL_FORM"}
    for name, body in _OPS.findall(text):
        given = dict(_FIELD.findall(body))
        forms = [f"{kind}({given[op]})" if op in given else "NONE" for op, kind in kinds.items()]
        yield f"{{&{name}, {', '.join(forms)}}},"


def _programs(text: str) -> list[str]:
    """Programs of BPF have no module_init: the first table with functions counts."""
    return [name for name, body in _OPS.findall(text) if ".ssthresh" in body]


def replace_headers(text: str, inner: Path) -> None:
    """Make empty files of the kernel's headers that a text includes."""
    for given in INCLUDE.findall(text):
        name = given[1:-1]
        if (given.startswith("<") and name not in _OF_C) or OF_A_KERNEL.fullmatch(name):
            made = (inner / name).resolve()
            if made.is_relative_to(inner.parent.parent):
                made.parent.mkdir(parents=True, exist_ok=True)
                made.touch()
