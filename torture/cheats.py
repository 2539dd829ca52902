"""Agents that cheat or do harm, among honest ones.

The honest ones keep their results, and each cheat ends as it should.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from brlbench.results.result import Result
from brlbench.study.failures import failures_in
from helpers.made_studies import write_study
from helpers.processes import can_mount

from .ground import STUDY, Broken, Ground, check_equal, results_in

_AT_ONCE = 5  # kinds of cheats in a study
_BUSY_NANOSECONDS = 3_000_000
_LONG_NANOSECONDS = 1_000_000_000  # more than a part may hide, if it is one trajectory
_HORIZON = 20  # of the study
_MODULE = "cheats"
_PLACES = ["GC", "GC from uniform:GC"]
_WORKERS = "[execution]\nworkers = 2\n"

# Each class does what its name says; the rest it does like an honest agent.
CODE = f"""
import ctypes, gc, itertools, numpy, os, pathlib, signal, subprocess, sys, threading, time
from study_agents import Plain

clock = time.thread_time_ns

def work(nanoseconds={_BUSY_NANOSECONDS}):
    end = clock() + nanoseconds
    while clock() < end:
        pass

class Copied:
    def __deepcopy__(self, memo):
        work()
        return type(self)()

class BackwardClocks(Plain):
    def start(self, state, rng):
        import brlbench.protocol.stepping as stepping
        super().start(state, rng)
        ticks = itertools.count(10**15, -1000)
        for name in ("perf_counter_ns", "thread_time_ns"):
            setattr(stepping, name, lambda: next(ticks))

class StoppedClocks(Plain):
    def start(self, state, rng):
        super().start(state, rng)
        for name in ("time", "time_ns", "perf_counter", "perf_counter_ns", "process_time_ns"):
            setattr(time, name, lambda: 0)

slow_clocks = []

class SlowClocks(Plain):
    def start(self, state, rng):
        import brlbench.protocol.stepping as stepping
        super().start(state, rng)
        for name in ("perf_counter_ns", "thread_time_ns", "others_nanoseconds"):
            quick = getattr(stepping, name)
            if quick not in slow_clocks:
                slow = lambda quick=quick, now=quick(): now + (quick() - now) // 1000
                slow_clocks.append(slow)
                setattr(stepping, name, slow)
        work({_LONG_NANOSECONDS})

class ForgedRewards(Plain):
    def act(self, state):
        for each in gc.get_objects():
            if type(each).__name__ == "Record":
                each.rewards[:] = 1e6
        return super().act(state)

class ForgedParts(Plain):
    def act(self, state):
        from brlbench.study import worker
        worker.PartFile = lambda *anything: "a lot of money"
        return super().act(state)

class ForgedTables(Plain):
    def act(self, state):
        from brlbench.study import worker
        genuine = worker.make_part
        def forged(*arguments):
            part = genuine(*arguments)
            for name in ("rewards", "return"):
                part.columns[name] = 2 * part.columns[name]
            return part
        if genuine.__name__ != "forged":
            worker.make_part = forged
        return super().act(state)

class ForgedMessages(Plain):
    def act(self, state):
        for number in range(3, 64):
            try:
                os.write(number, b"\\0\\0\\0\\7garbage")
            except OSError:
                pass
        return super().act(state)

class LooksAtFrames(Plain):
    def act(self, state):
        frame = sys._getframe(1)
        while frame is not None:
            for each in frame.f_locals.values():
                parts = [each, *getattr(each, "args", ())]
                parts += each if isinstance(each, (list, tuple)) else []
                parts += [c.cell_contents for c in getattr(each, "__closure__", None) or ()]
                names = {{type(part).__name__ for part in parts}}
                assert not names & {{"Experiment", "Environment", "Record", "generator", "bytes"}}
            frame = frame.f_back
        return super().act(state)

def optimal(env, discount=0.95):
    pairs, ends = len(env.row_start) - 1, env.row_start
    value = numpy.zeros(pairs // env.num_actions)
    for _ in range(300):
        each = env.probability * (env.reward + discount * value[env.next_state])
        q = numpy.array([each[ends[p]:ends[p + 1]].sum() for p in range(pairs)])
        value = q.reshape(-1, env.num_actions).max(axis=1)
    return q.reshape(-1, env.num_actions).argmax(axis=1)

class ReadsMDP(Plain):
    def start(self, state, rng):
        super().start(state, rng)
        found = [each for each in gc.get_objects() if type(each).__name__ == "Environment"]
        found = [each for each in found if getattr(each, "num_actions", 0)]
        self.best = optimal(found[-1])

    def act(self, state):
        return int(self.best[state])

class WorksInIndex(Plain):
    def act(self, state):
        class Action:
            def __index__(self):
                work()
                return 0
        return Action()

class WorksInCopy(Plain):
    def train(self, prior, task, rng):
        super().train(prior, task, rng)
        self.thing = Copied()

class WorksInThread(Plain):
    def start(self, state, rng):
        super().start(state, rng)
        self.steps = 0
        self.thread = threading.Thread(target=work)
        self.thread.start()

    def observe(self, state, action, next_state, reward):
        self.steps += 1
        if self.steps == {_HORIZON}:
            self.thread.join()

class WorksBetween(Plain):
    def start(self, state, rng):
        super().start(state, rng)
        threading.Thread(target=work).start()

class WorksInChild(Plain):
    def start(self, state, rng):
        super().start(state, rng)
        code = "import time\\nwhile time.process_time() < 0.05: pass"
        subprocess.run([sys.executable, "-S", "-c", code], check=True)

class ClosesDescriptors(Plain):
    def act(self, state):
        os.closerange(3, 1000)
        return super().act(state)

class Exits(Plain):
    def act(self, state):
        os._exit(0)

class Crashes(Plain):
    def act(self, state):
        ctypes.string_at(0)

class Recurses(Plain):
    def act(self, state):
        return self.act(state)

class ActsOddly(Plain):
    def act(self, state):
        return self.rng.choice([1e300, -1, 10**18, None])

class RaisesOddly(Plain):
    def act(self, state):
        class Odd(BaseException):
            def __str__(self):
                os.write(2, b"\\x1b[2J")
                raise self
        raise Odd("\\ud800" * 10**6)

class LeavesProcesses(Plain):
    def start(self, state, rng):
        super().start(state, rng)
        code = "import os, time; os.setsid(); os.fork(); time.sleep(1000)"
        subprocess.Popen([sys.executable, "-c", code])

class IgnoresSignals(Plain):
    def start(self, state, rng):
        super().start(state, rng)
        for number in set(range(1, signal.NSIG)) - {{9, 19, 32, 33}}:
            signal.signal(number, signal.SIG_IGN)
        signal.alarm(1)

class RuinsItsProcess(Plain):
    def act(self, state):
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        sys.modules.clear()
        return 0

class Destroys(Plain):
    def act(self, state):
        import shutil
        for folder in pathlib.Path(__file__).parent.glob("out*"):
            shutil.rmtree(folder, ignore_errors=True)
            for path in folder.rglob("*"):
                try:
                    path.write_bytes(b"")
                except OSError:
                    pass
        return super().act(state)

class IsTold(Plain):
    def start_known(self, mdp, state, rng):
        super().start(state, rng)
"""


def _times(column: str, first_only: bool = False) -> Callable[[Result], bool]:
    """Whether the work was timed, in each trajectory."""

    def check(result: Result) -> bool:
        times = getattr(result, column)
        return bool((times.max(axis=-1) if first_only else times).min() >= _BUSY_NANOSECONDS)

    return check


def _mostly_timed(result: Result) -> bool:
    """Whether the work was timed in some trajectory; that after the last one may be lost."""
    times = result.cpu_nanoseconds
    return bool(times.sum() >= (times.size - 1) * _BUSY_NANOSECONDS)


class Ending(NamedTuple):
    """How a cheat ends: a pattern of its failure, or else what must hold of its result."""

    failure: str | None
    holds: Callable[[Result], bool] = lambda result: True


CHEATS: dict[str, Ending] = {
    "BackwardClocks": Ending(r"returned a wrong file: (column|measured\.)|times or returns"),
    "SlowClocks": Ending("worked where no time is measured"),
    "StoppedClocks": Ending(None, lambda result: bool((result.nanoseconds > 0).all())),
    "ForgedRewards": Ending("its actions don't lead to the states and rewards"),
    "ForgedParts": Ending("its process returned no played part"),
    "ForgedMessages": Ending("its result can't be read"),
    "ForgedTables": Ending("its actions don't lead to its return"),
    "LooksAtFrames": Ending(None),
    "ReadsMDP": Ending(None),
    "WorksInIndex": Ending(None, _times("nanoseconds")),
    "WorksInCopy": Ending(None, _times("nanoseconds", first_only=True)),
    "WorksInThread": Ending(None, _times("cpu_nanoseconds")),
    "WorksBetween": Ending(None, _mostly_timed),
    "WorksInChild": Ending(None, _times("cpu_nanoseconds")),
    "ClosesDescriptors": Ending("it closed the connection|ended with exit code 0"),
    "Exits": Ending("its process ended with exit code 0"),
    "Crashes": Ending("its process crashed: SIGSEGV"),
    "Recurses": Ending("RecursionError"),
    "ActsOddly": Ending("act returned"),
    "RaisesOddly": Ending("its message can't be read"),
    "LeavesProcesses": Ending(None),
    "IgnoresSignals": Ending(None),
    "RuinsItsProcess": Ending("."),
    "IsTold": Ending(None, lambda result: result.is_told),
}
if can_mount():
    CHEATS["Destroys"] = Ending(None)


# Long enough for a score that a bound is known for, on enough MDPs.
_READING = f"""
[defaults]
num_mdps = 100
[[experiments]]
test = "GC"
[[agents]]
algorithm = "{_MODULE}:ReadsMDP"
{_WORKERS}"""


def attack(ground: Ground, kinds: int | None = None) -> None:
    """Run the study with all or some cheats, some at once, and one that is above the bound."""
    names = [str(name) for name in ground.rng.permutation(list(CHEATS))[:kinds]]
    for first in range(0, len(names), _AT_ONCE):
        _beside(ground, names[first : first + _AT_ONCE])
    _above_the_bound(ground)


def _beside(ground: Ground, names: list[str]) -> None:
    """Run the study with cheats in it, and compare the honest agents' results."""
    agents = [
        f'[[agents]]\nalgorithm = "{_MODULE}:{name}"\nexperiments = {_PLACES}\n' for name in names
    ]
    place = ground.folder / "cheated"
    path = write_study(place, STUDY + "".join(agents) + _WORKERS)
    (place / f"{_MODULE}.py").write_text(CODE)
    code = ground.run("run", path, "-r", place / "out")
    if code not in (0, 1):
        raise Broken(f"the run ended with code {code}: {ground.said()}")
    ground.check_processes()
    try:
        check(ground, place / "out", names)
    except Broken as error:
        raise Broken(f"beside {', '.join(names)}: {error}") from None
    shutil.rmtree(place)
    ground.counts["agents that cheat"] += len(names)


def _above_the_bound(ground: Ground) -> None:
    """An agent that reads the MDP where nobody can hide it is marked."""
    place = ground.folder / "above"
    path = write_study(place, _READING)
    (place / f"{_MODULE}.py").write_text(CODE)
    for command in (("run", path, "-r", place / "out"), ("compare", place / "out")):
        if ground.run(*command) or "△" not in ground.said():
            raise Broken(f"{command[0]} does not mark a score above the bound: {ground.said()}")
    shutil.rmtree(place)
    ground.counts["scores above the bound, marked"] += 1


def check(ground: Ground, out: Path, names: list[str]) -> None:
    """Raise unless honest results are as expected, and cheats end as they should."""
    results = results_in(out)
    honest = {name: result for name, result in results.items() if _kind(name) is None}
    for name, result in honest.items():
        check_equal(name, result, ground.expected[name])
    if lost := ground.expected.keys() - honest.keys():
        raise Broken(f"{out} lacks {', '.join(sorted(lost))}")
    failures = {f"{each.agent} on {each.experiment}": each.reason for each in failures_in(out)}
    for name in names:
        wanted = CHEATS[name]
        for label, reason in failures.items():
            if _kind(label) == name and not re.search(wanted.failure or "(?!)", reason):
                raise Broken(f"{label} failed: {reason}")
        for label, result in results.items():
            if _kind(label) == name and (wanted.failure or not wanted.holds(result)):
                raise Broken(f"{label} has a result that it should not have")
    if others := [label for label in failures if _kind(label) is None]:
        raise Broken(f"{', '.join(others)} failed")
    if len(results) + len(failures) != len(ground.expected) + len(_PLACES) * len(names):
        raise Broken(f"{out} has {len(results)} results and {len(failures)} failures")
    ground.counts["results identical to those of an undisturbed run"] += len(honest)


def _kind(label: str) -> str | None:
    """The class of a cheat; None if the agent is honest."""
    found = re.match(rf"{_MODULE}:(\w+)", label)
    return found and found[1]
