"""What paired rounds say, and what the families of a record say together."""

from __future__ import annotations

import math
from typing import Any

import pytest
from families import HEADER, LIBRARY, TUNABLEOP, TUNED, families, losers
from report import WIDTH, print_families
from rounds import draw_order, geomean, one_round, ratios, side_columns, tuned_columns


def row(suite: str, problem: str, ratio: float, **more: Any) -> dict[str, Any]:
    spread = {"ratio_p10": ratio - 0.1, "ratio_p90": ratio + 0.1}
    return {"suite": suite, "problem": problem, "ratio": ratio, "solution": "S", **spread, **more}


ROWS = [
    row("decode", "mm a", 1.21, default_us=10.0, floor_us=5.0, emulated_tunableop_ratio=1.0),
    row("decode", "mm b", 1.0, default_us=16.0, floor_us=2.0, emulated_tunableop_ratio=1.1),
    row("batched", "bmm c", 0.9, default_us=4.0, floor_us=1.0, emulated_tunableop_ratio=1.0),
    row("batched", "bmm d", 0.98, default_us=4.0, floor_us=1.0, emulated_tunableop_ratio=1.0),
]


@pytest.mark.parametrize("sides", [2, 3])
def test_a_round_goes_there_and_back_in_any_order(sides: int) -> None:
    orders = {tuple(draw_order(sides)) for _ in range(200)}
    assert len(orders) == math.factorial(sides)
    for order in orders:
        assert order == order[::-1]
        assert sorted(order) == sorted([*range(sides), *range(sides)])


def test_a_round_is_the_mean_of_both_readings() -> None:
    assert one_round([1, 0, 0, 1], [3.0, 10.0, 20.0, 5.0]) == [15.0, 4.0]


def test_the_ratio_is_taken_within_rounds() -> None:
    # The clocks halve after the first rounds; torch's time is 1.5 of ours in each.
    rounds = [[3e-6, 2e-6]] * 4 + [[6e-6, 4e-6]] * 7
    columns = tuned_columns(rounds)
    assert columns["ratio"] == columns["ratio_p10"] == columns["ratio_p90"] == pytest.approx(1.5)
    assert columns["default_us"] == pytest.approx(6)
    assert columns["tuned_us"] == pytest.approx(4)
    assert columns["rounds"] == 11
    assert ratios([[4.0, 2.0, 8.0]], 2) == [0.5]
    assert side_columns(rounds, 1, "library") == {
        "library_us": columns["tuned_us"],
        "library_ratio": columns["ratio"],
    }


def test_the_geometric_mean() -> None:
    assert geomean([2.0, 0.5]) == pytest.approx(1)
    assert geomean(iter([4.0])) == pytest.approx(4)


def test_families_in_the_order_of_the_rows_then_all() -> None:
    decode, batched, together = families(ROWS)
    assert (decode.name, batched.name, together.name) == ("decode", "batched", "all")
    assert list(decode.sides) == [TUNED, TUNABLEOP]
    assert (decode.rows, decode.sides[TUNED].wins) == (2, 0.5)
    assert decode.sides[TUNED].geomean == pytest.approx(1.1)
    worst = batched.sides[TUNED]
    assert (worst.worst, worst.worst_problem) == (0.9, "bmm c")
    assert decode.sides[TUNABLEOP].geomean == pytest.approx(math.sqrt(1.1))
    assert decode.over_floor == pytest.approx(4)
    assert together.rows == 4
    assert together.lines()[0][:5] == ["all", "4", TUNED, "1.016x", "0.900x"]


def test_each_side_has_a_line_of_its_own() -> None:
    rows = [one | {"library_ratio": ratio} for one, ratio in zip(ROWS, (1.1, 1.2), strict=False)]
    (decode,) = families(rows)
    assert decode.lines() == [
        ["decode", "2", TUNED, "1.100x", "1.000x", "mm b", "50%", "4.00"],
        ["decode", "2", LIBRARY, "1.149x", "1.100x", "mm a", "100%", "4.00"],
        ["decode", "2", TUNABLEOP, "1.049x", "1.000x", "mm a", "50%", "4.00"],
    ]


def test_numbers_may_be_text_and_columns_may_lack() -> None:
    texts = [{"problem": "mm a", "ratio": "1.5", "default_us": "3", "floor_us": ""}]
    (only,) = families(texts)
    (line,) = only.lines()
    assert line == ["rows", "1", TUNED, "1.500x", "1.500x", "mm a", "100%", "-"]
    assert len(line) == len(HEADER)


def test_losers_are_named_the_worst_first() -> None:
    assert [loser["problem"] for loser in losers(ROWS)] == ["bmm c", "bmm d"]


def test_what_is_printed_last(capsys: pytest.CaptureFixture[str]) -> None:
    long = row("epilogue", "linear bfloat16 nt 12608x3072x768", 1.0, library_ratio=1.0)
    print_families([*ROWS, long], "[a] device")
    lines = capsys.readouterr().out.splitlines()
    assert "[a] device" in lines[0]
    assert max(map(len, lines)) <= WIDTH
    assert sum(long["problem"] in line for line in lines) == 3, "in one piece"
    assert "below 0.99x: bmm c 0.900x (tenths of the rounds: 0.800 to 1.000)" in lines
    print_families(ROWS[:2], "title")
    assert capsys.readouterr().out.splitlines()[-1] == "no row is below 0.99x"
