"""The result of a validation: references, known differences, and another variant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bdpbench.simulation.validation.subset import NO_OUTPUT, SubsetResult, TestResult


@dataclass(frozen=True)
class Judgement:
    """The judgement of some subsets.

    Attributes:
        known: (subset, test, reason) of tests that differ as expected.
        unknown: (subset, test) of tests that differ unexpectedly.
        vanished: (subset, test) of tests that are listed as different but agree.
        silent: (subset, test) of tests that wrote nothing to compare.
        stopped: subsets that did not end within the time limit.
        empty: subsets that ran no test at all.
        not_same: (subset, test, outputs) of tests whose bytes differ from those of the other
            variant.
    """

    known: tuple[tuple[str, str, str], ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()
    vanished: tuple[tuple[str, str], ...] = ()
    silent: tuple[tuple[str, str], ...] = ()
    stopped: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    not_same: tuple[tuple[str, str, tuple[str, ...]], ...] = ()

    @property
    def good(self) -> bool:
        """Whether everything is as expected."""
        return not (
            self.unknown
            or self.vanished
            or self.silent
            or self.stopped
            or self.empty
            or self.not_same
        )


def judge(
    results: Sequence[SubsetResult],
    reasons: Mapping[tuple[str, str], str],
    others: Sequence[SubsetResult] | None = None,
) -> Judgement:
    """Judge the subsets of one variant, and compare them with the ``others`` of another variant."""
    differ = [(each.subset, name) for each in results for name in each.named("differ")]
    agree = {(each.subset, name) for each in results for name in each.named("agree")}
    both = [*results, *(others or ())]
    return Judgement(
        known=tuple((*key, reasons[key]) for key in differ if key in reasons),
        unknown=tuple(key for key in differ if key not in reasons),
        vanished=tuple(key for key in reasons if key in agree and key not in differ),
        silent=tuple((each.subset, name) for each in results for name in each.named(NO_OUTPUT)),
        stopped=tuple(dict.fromkeys(each.subset for each in both if not each.whole)),
        empty=tuple(dict.fromkeys(each.subset for each in both if not each.tests)),
        not_same=tuple(
            (one.subset, *found)
            for one, other in zip(results, others or (), strict=others is not None)
            for found in not_same(one, other)
        ),
    )


def not_same(one: SubsetResult, other: SubsetResult) -> list[tuple[str, tuple[str, ...]]]:
    """Tests of a subset whose outcome or outputs differ between two variants, with the outputs."""
    found = []
    for i in range(max(len(one.tests), len(other.tests))):
        pair = [each.tests[i] if i < len(each.tests) else None for each in (one, other)]
        outputs = _changed(*pair)
        if outputs:
            name = next(test.name for test in pair if test is not None)
            found.append((name, outputs))
    return found


def _changed(one: TestResult | None, other: TestResult | None) -> tuple[str, ...]:
    if one is None or other is None:
        return ("(not run)",)
    changed = [
        name
        for name in sorted({*one.outputs, *other.outputs})
        if one.outputs.get(name) != other.outputs.get(name)
    ]
    if (one.name, one.outcome) != (other.name, other.outcome):
        changed.insert(0, "(outcome)")
    return tuple(changed)
