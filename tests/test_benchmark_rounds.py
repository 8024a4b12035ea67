"""What paired rounds say, and what the families of a record say together."""

from __future__ import annotations

import math
from typing import Any

import pytest
from families import HEADER, families, losers
from report import WIDTH, print_families
from rounds import draw_order, geomean, one_round, ratios, tuned_columns


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


def test_the_geometric_mean() -> None:
    assert geomean([2.0, 0.5]) == pytest.approx(1)
    assert geomean(iter([4.0])) == pytest.approx(4)


def test_families_in_the_order_of_the_rows_then_all() -> None:
    decode, batched, together = families(ROWS)
    assert (decode.name, batched.name, together.name) == ("decode", "batched", "all")
    assert (decode.rows, decode.wins) == (2, 0.5)
    assert decode.geomean == pytest.approx(1.1)
    assert (batched.worst, batched.worst_problem) == (0.9, "bmm c")
    assert decode.tunableop == pytest.approx(math.sqrt(1.1))
    assert decode.over_floor == pytest.approx(4)
    assert together.rows == 4
    assert together.cells()[:4] == ["all", "4", "1.016x", "0.900x"]


def test_numbers_may_be_text_and_columns_may_lack() -> None:
    texts = [{"problem": "mm a", "ratio": "1.5", "default_us": "3", "floor_us": ""}]
    (only,) = families(texts)
    assert only.cells() == ["rows", "1", "1.500x", "1.500x", "mm a", "100%", "-", "-"]
    assert len(only.cells()) == len(HEADER)


def test_losers_are_named_the_worst_first() -> None:
    assert [loser["problem"] for loser in losers(ROWS)] == ["bmm c", "bmm d"]


def test_what_is_printed_last(capsys: pytest.CaptureFixture[str]) -> None:
    print_families(ROWS, "[a] device")
    lines = capsys.readouterr().out.splitlines()
    assert "[a] device" in lines[0]
    assert max(map(len, lines)) <= WIDTH
    assert "below 0.99x: bmm c 0.900x (tenths of the rounds: 0.800 to 1.000)" in lines
    print_families(ROWS[:2], "title")
    assert capsys.readouterr().out.splitlines()[-1] == "no row is below 0.99x"
