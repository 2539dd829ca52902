"""Runs the code of a documentation page, block by block, in the current folder.

Blocks with a file's name as their title are written to it; others run if they are Python, in one
namespace, or Bash. Text right after such a block is its output, in which … stands for anything.
"""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


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
    command = ["bash", "-e", "-o", "pipefail", "-c", block.code]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def check_output(expected: str, output: str, place: str) -> None:
    pattern = ".*?".join(re.escape(part) for part in expected.strip().split("…"))
    plain = "\n".join(line.rstrip() for line in output.strip().splitlines())
    if re.fullmatch(pattern, plain, re.DOTALL) is None:
        raise SystemExit(f"{place}: expected\n{expected}\nbut this was printed:\n{plain}")


if __name__ == "__main__":
    sys.path.insert(0, "")
    run(sys.stdin.read(), sys.argv[1])
