"""The README's figure: its numbers, and that they are the record's."""

from __future__ import annotations

import sys
from pathlib import Path

import figure
import pytest
import record
from figure_points import Point, description_of, points_of

ROWS = [
    {"suite": suite, "problem": f"mm {name}", "floor_us": "1", "default_us": time, "tuned_us": "2"}
    for suite, name, time in (("b", "<1>", "2.5"), ("a", "2", "4"), ("b", "3", "5"))
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "figure.svg"


@pytest.fixture
def matplotlib() -> object:
    reason = "matplotlib (the extra `figures`) is not installed"
    return pytest.importorskip("matplotlib", reason=reason)


def test_rows_are_by_families_and_the_worst_first() -> None:
    assert points_of(ROWS) == [
        Point("b", "mm 3", 0.2, 0.5),
        Point("b", "mm <1>", 0.4, 0.5),
        Point("a", "mm 2", 0.25, 0.5),
    ]
    words = description_of(points_of(ROWS), "H200").splitlines()
    assert words[0].endswith("on one H200.")
    assert words[2] == "b, mm <1>: 40%, 50%"


def test_a_picture_is_told_from_one_of_other_numbers(path: Path) -> None:
    assert not figure.is_up_to_date(path, "a < b"), "there is none"
    path.parent.mkdir()
    path.write_text("<svg><dc:description>a &lt; b\nc</dc:description></svg>")
    assert figure.is_up_to_date(path, "a < b\nc")
    assert not figure.is_up_to_date(path, "a < b")
    path.write_text("<svg></svg>")
    assert not figure.is_up_to_date(path, "")


def test_the_figure_is_what_the_record_says() -> None:
    figure.main(["--check"])
    assert f"docs/{figure.FIGURE.name}" in (figure.FIGURE.parents[1] / "README.md").read_text()


def test_checking_needs_no_matplotlib_and_names_what_to_run(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    figure.main(["--check"])
    monkeypatch.setattr(figure, "FIGURE", path)
    with pytest.raises(SystemExit, match=r"run benchmarks/figure\.py"):
        figure.main(["--check"])
    monkeypatch.setattr(record, "FOLDER", path.parent)
    with pytest.raises(SystemExit, match="there is no record 'gpu'"):
        figure.main([])


@pytest.mark.usefixtures("matplotlib")
def test_what_is_drawn_is_checked(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(figure, "FIGURE", path)
    figure.main([])
    figure.main(["--check"])


@pytest.mark.usefixtures("matplotlib")
def test_drawing_again_changes_nothing(path: Path) -> None:
    import matplotlib
    from figure_drawing import draw

    texts = []
    for size in (9, 20):
        with matplotlib.rc_context({"font.size": size, "svg.hashsalt": None}):
            draw(points_of(ROWS), "some title", "a < b", path)
        texts.append(path.read_text())
    assert texts[0] == texts[1]
    assert "some title" in texts[0], "text stays text"
    assert figure.is_up_to_date(path, "a < b")


@pytest.mark.usefixtures("matplotlib")
def test_each_row_is_two_dots(path: Path) -> None:
    from figure_drawing import GAP, plot
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    plot(axes, points_of(ROWS), "some title")
    _, default, tuned = axes.collections
    places = [0, 1, 2 + GAP]
    for dots, parts in ((default, [0.2, 0.4, 0.25]), (tuned, [0.5] * 3)):
        assert dots.get_offsets()[:, 0].tolist() == places
        assert dots.get_offsets()[:, 1].tolist() == pytest.approx(parts)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["b", "a"]
