"""brlbench's agents agree with Guez's program, where both have the same algorithm."""

import pytest
from reproduction.guez import play, rows


def test_the_programs_agree() -> None:
    same = [row for row in rows() if row.agent != "sboss"]
    assert {row.agent for row in same} == {"bamcp", "bfs3", "beb"}
    assert all(abs(row.z) < 3 for row in same)


@pytest.mark.slow
def test_beb_is_exactly_the_programs_on_loop() -> None:
    [row] = [row for row in rows() if (row.problem, row.agent) == ("Loop", "beb")]
    assert play("Loop", "beb", 2) == (row.program_mean, 0.0)
