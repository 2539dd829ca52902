import pytest

from brlbench.arguments import counted


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "job", "0 jobs"),
        (1, "job", "1 job"),
        (2, "trajectory", "2 trajectories"),
        (1, "trajectory", "1 trajectory"),
        (3, "hypothesis", "3 hypotheses"),
        (2, "day", "2 days"),
    ],
)
def test_nouns_have_plurals(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text


def test_numbers_have_forms() -> None:
    assert counted(12345, "MDP", ",") == "12,345 MDPs"
