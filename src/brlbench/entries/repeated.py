"""Whether agents that were played again have the returns and times that the entry says."""

from collections.abc import Iterator

import numpy as np

from ..arguments import format_seconds
from ..testing.rules import KEPT, UNKNOWN, Finding
from .opened import Opened, judged
from .replay import Replay, Replayed
from .times import ABSURD, speed_of

_NOTICEABLE = 0.01  # seconds of training, below which its time says little


def same_returns(opened: Opened, replayed: Replay) -> Finding:
    """Agents that are played again have the same returns, in MDPs that are drawn now."""
    problems = [*filter(None, map(_difference, replayed.done)), *replayed.failed]
    algorithms = {each.summary.algorithm for each in opened.results}
    missing = algorithms - {each.played.summary.algorithm for each in replayed.done}
    number = sum(len(each.mdps) for each in replayed.done)
    seen = (
        f"{number} returns of {len(replayed.done)} of {len(opened.results)} results, the same "
        f"(seed {replayed.seed})"
    )
    if problems:
        return judged(problems, "", _remedy(opened))
    missed = tuple(missing)
    why = [f"{name}: {why}" for name, why in replayed.left_out.items() if name.startswith(missed)]
    if not missing:
        return Finding(KEPT, seen)
    first = why[0] if why else "it takes too long"
    told = f"{seen}; not played: {first}" if replayed.done else f"nothing was played: {first}"
    return Finding(UNKNOWN, told)


def _remedy(opened: Opened) -> str:
    made_with = {
        str(played.summary.machine.get("versions", {}).get("brlbench")) for played in opened.results
    }
    listed = " or ".join(sorted(made_with))
    return f"play it again with this version, or check it with brlbench {listed}, which played it"


def _difference(again: Replayed) -> str:
    """Where a replay differs from the entry; empty if it does not."""
    mdps, summary = np.array(again.mdps), again.played.summary
    compared = [("return", summary.returns[mdps], again.returns, 1e-9)]
    if again.adjusted and summary.adjusted is not None:
        stored = summary.adjusted.returns[mdps]
        compared.append(("adjusted return", stored, again.adjusted, 1e-6))
    for name, told, now, tolerance in compared:
        differs = ~np.isclose(told, now, rtol=tolerance, atol=tolerance)
        if differs.any():
            first = int(np.argmax(differs))
            return (
                f"{again.played}, MDP {mdps[first]}: the {name} is {now[first]:.6g}, and "
                f"{told[first]:.6g} in the entry ({differs.sum()} of {len(told)} MDPs differ)"
            )
    return ""


def same_times(replayed: Replay) -> Finding:
    """Agents that are played again are not absurdly slower than the entry says."""
    problems = [*replayed.slow, *(text for each in replayed.done for text in _too_quick(each))]
    if not replayed.done and not problems:
        return Finding(UNKNOWN, "nothing was played")
    ratios = [
        each.played.summary.seconds["mean"] / (each.decision * speed_of(each.played))
        for each in replayed.done
    ]
    seen = f"{min(ratios, default=0):.2g} to {max(ratios, default=0):.2g} times those here"
    return judged(problems, f"decisions take {seen}, machines calibrated", "play it again")


def _too_quick(again: Replayed) -> Iterator[str]:
    seconds, speed = again.played.summary.seconds, speed_of(again.played)
    times = {"decision": (seconds["mean"], again.decision)}
    if again.offline > _NOTICEABLE:
        times["training"] = (seconds["offline"], again.offline)
    for name, (stated, here) in times.items():
        if stated < here * speed / ABSURD:
            yield (
                f"{again.played}: its {name} takes {format_seconds(stated)}, less than "
                f"1/{ABSURD:g} of the {format_seconds(here * speed)} to be expected on its machine"
            )
