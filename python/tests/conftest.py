"""Models that several tests share."""

from __future__ import annotations

import os

os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np
import pytest

import saltus as sl

G = 9.81


class Ball:
    """The bouncing ball of the contract."""

    def __init__(self, e: float = 0.9) -> None:
        self.model = sl.Model("bouncing ball", t0=0.0)
        self.ball = self.model.add(
            sl.LagrangianLinear(
                q0=[1, 0, 0], v0=[0, 0, 0], M=np.diag([1.0, 1.0, 0.004]), F_ext=[-G, 0, 0]
            ),
            name="ball",
        )
        self.floor = self.model.connect(
            sl.LagrangianLinearRelation(H=[[1, 0, 0]], b=[-0.1]),
            sl.NewtonImpact(e=e),
            self.ball,
            name="floor",
        )
        self.sim = sl.TimeStepping(self.model, h=5e-3, integrator=sl.MoreauJean(theta=0.5))


@pytest.fixture
def ball() -> Ball:
    return Ball()


def point(x0: float = 0.0, **operators: object) -> tuple[sl.Model, sl.SystemHandle]:
    """One first-order state, `ẋ = b(t)` unless told otherwise."""
    model = sl.Model("point")
    settings: dict[str, object] = {"A": [[0.0]], **operators}
    return model, model.add(sl.FirstOrderLinear([x0], **settings), name="point")  # type: ignore[arg-type]


def dead_end() -> sl.Model:
    """A model whose steps can be solved until t = 1 only: `y = 1 − x`, `ẋ = 1`, and no `λ` helps."""
    model, state = point(b=[1.0])
    relation = sl.FirstOrderLinearRelation(C=[[-1]], B=[[0]], D=[[0]], e=[1])
    model.connect(relation, sl.Complementarity(), state, name="wall")
    return model
