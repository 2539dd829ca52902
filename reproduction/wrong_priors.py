"""The page on wrong priors, made from the shipped results alone."""

from collections.abc import Iterable, Sequence

from brlbench.report.misspecification import EXPECTED, MIXED, SCALED, Change

from .markdown import listed, template
from .misspecification import LEVEL, Row, changed, experiments, rows, winners

PAPER = ("bamcp", "beb", "epsilon-greedy", "opps-ds", "sboss", "soft-max")
_CLEAR = 4  # standard errors of a gain over random, of which a part can be told


def make_page() -> str:
    """The page as Markdown."""
    mixed, scaled, expected = map(rows, (MIXED, SCALED, EXPECTED))
    problems = list(dict.fromkeys(row.problem for row in mixed))
    return template("misspecification.md.j2").render(
        settings=experiments()[0].settings,
        num_rows=len(mixed),
        kept=[(name, _kept_table([r for r in mixed if r.problem == name])) for name in problems],
        winners=_winners_table(problems),
        certain=_certain_table(scaled),
        expected=_expected_table(expected),
        **_claims(mixed, scaled),
        **_claims_on_rewards(expected),
    )


def _claims(mixed: Sequence[Row], scaled: Sequence[Row]) -> dict[str, object]:
    """What the page's sentences count."""
    place = {(row.problem, row.algorithm): row for row in mixed}
    worse = [row for row in mixed if _differs(row, 1.0) and row.kept(1.0).mean < 1]
    on_grid = [row for row in scaled if row.problem == "Grid"]
    best = max(
        (place["Grid", name] for name in PAPER if ("Grid", name) in place),
        key=lambda row: row.played[0.1].score.mean,
    )
    ann = place["GDL", "ann"]
    assert ann.retuned is not None
    retuned = [(row.scores[-1].mean, row.retuned.mean) for row in mixed if row.retuned]
    return {
        "worse_uniform": len(worse),
        "unclear": listed(f"{r.algorithm} on {r.problem}" for r in mixed if r not in worse),
        "grid_tenth": f"{100 * best.kept(0.1).mean:.0f}%",
        "gc_tenth": listed(r.algorithm for r in mixed if r.problem == "GC" and _differs(r, 0.1)),
        "sparse_kept": listed(
            f"{100 * place[name, 'sparse-prior'].kept(1.0).mean:.0f}%"
            for name in ("GC", "GDL", "Grid")
        ),
        "grid_rows": len(on_grid),
        "grid_doubt": len(_losers(on_grid, 0.1)),
        "grid_trust": listed(_losers(on_grid, 10.0)),
        "gdl_trust": listed(_losers([row for row in scaled if row.problem == "GDL"], 10.0)),
        "gc_trust": listed(_losers([row for row in scaled if row.problem == "GC"], 10.0)),
        "retunings": len(retuned),
        "retuned_better": sum(new > old for old, new in retuned),
        "ann_kept": f"{ann.scores[-1].mean:.2f}",
        "ann_retuned": f"{ann.retuned.mean:.2f}",
    }


def _claims_on_rewards(expected: Sequence[Row]) -> dict[str, object]:
    """What the sentences on wrong expected rewards count."""
    greedy = next(row for row in expected if row.algorithm == "epsilon-greedy")
    changes = {
        number: [
            row.algorithm for row in expected if _differs(row, number) and row.kept(number).mean < 1
        ]
        for number in greedy.played
        if number != EXPECTED.none
    }
    return {
        "reward_settings": greedy.family.reference.settings,
        "reward_losers": {f"{number:g}": listed(names) for number, names in changes.items()},
        "greedy_kept": {
            f"{number:g}": f"{100 * greedy.kept(number).mean:.0f}%" for number in changes
        },
    }


def _losers(found: Iterable[Row], number: float) -> list[str]:
    """The algorithms that lose with another prior."""
    return [
        row.algorithm
        for row in found
        if _differs(row, number) and row.played[number].score.mean < row.accurate.score.mean
    ]


def _kept_table(found: Sequence[Row]) -> str:
    numbers = list(found[0].played)
    lines = [[row.accurate.label, *_scores(row, MIXED), _kept(row), _retuned(row)] for row in found]
    return _table(["agent", *(f"{n:g}" for n in numbers), "kept", "retuned"], lines)


def _expected_table(found: Sequence[Row]) -> str:
    numbers = [f"{number:g}" for number in found[0].played]
    lines = [[row.accurate.label, *_scores(row, EXPECTED)] for row in found]
    return _table(["agent", *numbers], lines)


def _winners_table(problems: Sequence[str]) -> str:
    found = winners(MIXED)
    numbers = list(rows(MIXED)[0].played)
    lines = [[name, *(", ".join(found[name, n]) for n in numbers)] for name in problems]
    return _table(["", *(f"{n:g}" for n in numbers)], lines, aligned="---")


def _certain_table(found: Sequence[Row]) -> str:
    by_algorithm: dict[str, list[str]] = {}
    for row in found:
        by_algorithm.setdefault(row.algorithm, []).extend(_scores(row, SCALED))
    problems = dict.fromkeys(row.problem for row in found)
    heads = [f"{name}, {n:g}" for name in problems for n in found[0].played]
    return _table(["algorithm", *heads], [[name, *cells] for name, cells in by_algorithm.items()])


def _scores(row: Row, change: Change) -> list[str]:
    """Normalised scores, with a star where another prior makes a difference."""
    return [
        f"{score.mean:.2f}" + ("\\*" if number != change.none and _differs(row, number) else "")
        for number, score in zip(row.played, row.scores, strict=True)
    ]


def _differs(row: Row, number: float) -> bool:
    return changed(row.family.change, number)[row] < LEVEL


def _kept(row: Row) -> str:
    gain = row.gain
    if gain.mean < _CLEAR * gain.ci95 / 2:
        return ""
    share, half_width = row.kept(1.0)
    return f"{100 * share:.0f}% ± {100 * half_width:.0f}%"


def _retuned(row: Row) -> str:
    return "" if row.retuned is None else f"{row.retuned.mean:.2f}"


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]], aligned: str = "---:") -> str:
    """A table in Markdown, whose first column is aligned to the left."""
    under = ["---", *[aligned] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, under, *lines))
