"""Runs the code of a documentation page, block by block, in the current folder.

Blocks with a file's name as their title are written to it; others run if they are Python, in one
namespace, or Bash. Text right after such a block is its output, in which … stands for anything.
Python and plain commands of brlbench run in this process, which has imported and compiled much.
"""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from brlbench import cli

PLAIN = {"brlbench", "ls", "mkdir"}  # a block with others, such as loops, runs in Bash


class Block(NamedTuple):
    line: int  # of its first line of code, from 1
    language: str
    title: str | None
    code: str


def blocks(page: str) -> list[Block]:
    """The blocks of a page, which must not be indented."""
    fence = r'^```(\w*)(?: title="([^"]*)")?\n(.*?)^```$'
    found = re.finditer(fence, page, re.DOTALL | re.MULTILINE)
    return [Block(page[: m.start(3)].count("\n") + 1, m[1], m[2], m[3]) for m in found]


def run(page: str, name: str) -> None:
    """Run all blocks; whatever fails raises."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    output = ""
    for block in blocks(page):
        place = f"{name}, line {block.line}"
        print(f"{place}:", flush=True)
        if block.title is not None:
            Path(block.title).write_text(block.code)
        elif block.language == "python":
            output = run_python(block, name, namespace)
        elif block.language == "bash":
            output = run_bash(block)
        elif block.language == "text":
            check_output(block.code, output, place)
        elif block.language != "pseudo":
            raise SystemExit(f"{place}: a block of {block.language!r} needs a file as its title")


def run_python(block: Block, name: str, namespace: dict[str, object]) -> str:
    code = compile("\n" * (block.line - 1) + block.code, name, "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def run_bash(block: Block) -> str:
    lines = block.code.replace("\\\n", "").splitlines()
    commands = list(filter(None, (shlex.split(line, comments=True) for line in lines)))
    if all(command[0] in PLAIN for command in commands):
        return "".join(run_brlbench(c) if c[0] == "brlbench" else output_of(c) for c in commands)
    return output_of(["bash", "-e", "-o", "pipefail", "-c", block.code])


def output_of(command: list[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def run_brlbench(command: list[str]) -> str:
    """Run a command in this process, as if from a terminal; return its output."""
    printed, arguments, path = io.StringIO(), sys.argv, sys.path.copy()
    try:
        sys.argv = command
        with contextlib.redirect_stdout(printed):
            cli.main()
    except SystemExit as end:
        assert not end.code, f"{shlex.join(command)} failed: {printed.getvalue()}"
    finally:
        sys.argv, sys.path[:] = arguments, path
    return printed.getvalue()


def check_output(expected: str, output: str, place: str) -> None:
    pattern = ".*?".join(re.escape(part) for part in expected.strip().split("…"))
    plain = "\n".join(line.rstrip() for line in output.strip().splitlines())
    if re.fullmatch(pattern, plain, re.DOTALL) is None:
        raise SystemExit(f"{place}: expected\n{expected}\nbut this was printed:\n{plain}")
