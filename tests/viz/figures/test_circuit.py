"""The graph of a circuit: whose line it is can be seen."""

from __future__ import annotations

import numpy as np

from viz.figures.circuit import FAINTEST, Spot, all_lines, circuit, drawn_lines


def test_a_line_goes_round_a_part_that_it_would_run_through_and_straight_elsewhere():
    spots = [Spot("low", 0, 0.5, "L0", "H0"), Spot("between", 1, 0.478, "L1", "H1"), Spot("aside", 2, 0.1, "L2", "H2")]
    figure = circuit(spots, "cat", np.full((3, 3), np.nan), np.array([0.9, 0.5, 0.4]))
    middles = {line.y[0]: line.x[1] for line in figure.data if line.mode == "lines"}  # by the row that a line begins in
    assert middles[0] < 0.46, "from the lowest to the top, beside the part that stands between"
    assert (middles[1], middles[2]) == (0.5, (0.1 + 0.5) / 2)


def test_the_widest_lines_are_drawn_and_those_that_must_be_seen():
    edges = np.full((3, 3), np.nan)
    edges[0, 1], edges[0, 2], edges[1, 2] = 0.3, -0.2, FAINTEST / 2
    direct = np.array([0.1, 0.02, 0.5])
    lines = all_lines(edges, direct)
    assert [line[:2] for line in lines] == [(2, 3), (0, 1), (0, 2), (0, 3), (1, 3)]
    assert drawn_lines(edges, direct, 2) == lines[:2]
    assert drawn_lines(edges, direct, 2, [(1, 3), (1, 2)]) == [*lines[:2], lines[-1]]
    spots = [Spot(name, i, 0.3 * i, f"L{i}", name) for i, name in enumerate("abc")]
    drawn = [trace for trace in circuit(spots, "cat", edges, direct, 2, [(1, 3)]).data if trace.mode == "lines"]
    assert len(drawn) == 3
