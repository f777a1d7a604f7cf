"""Mixed precision is torch's autocast, and the scale of the loss is that of torch's own scaler, skipped steps included."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.scratch.config import TransformerConfig
from models.training.layer_steps import lost_share
from models.training.live import IGNORED, SIZES, VOCABULARY, Budget, Training, inputs
from models.training.optimisation import smoothed_loss
from models.training.precision import FIRST, INTERVAL, PRECISIONS, SCALED, LossScale, autocast
from models.training.tasks import TASKS

SMALL = TransformerConfig(
    **SIZES | {"vocabulary": VOCABULARY, "d_model": 16, "heads": 2, "d_ff": 16, "context": 24, "initialisation": "xavier"}
)


def training(precision: str, **more) -> Training:
    return Training(
        TASKS["copy"](), SMALL, Budget(**{"steps": 60, "rows": 2, "every": 60, "optimizer": "sgd"} | more, precision=precision)
    )


@pytest.mark.parametrize("precision", PRECISIONS[1:])
def test_a_step_has_the_gradients_of_torchs_autocast(precision):
    run = training(precision, rate=1e-9, clip=0)
    twin = training(precision, rate=1e-9, clip=0).network
    ids, known = run.task.batch(np.random.default_rng([0, 1]), 2)
    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float16
    with torch.autocast("cpu", dtype=dtype):
        logits = twin(inputs(ids))
    factor = FIRST if precision == SCALED else 1.0
    assert logits.dtype == dtype
    (smoothed_loss(logits, torch.from_numpy(np.where(known, ids, IGNORED))) * factor).backward()
    run.advance(1)
    norm = torch.cat([weight.grad.ravel() / factor for weight in twin.parameters()]).norm().item()
    assert run.curves.norm[0] == pytest.approx(norm, rel=1e-5)


def test_the_scale_of_the_loss_is_torchs_with_steps_that_are_left_out():
    """The first factor is too large for these gradients on purpose, so steps are left out until it fits."""
    run = training(SCALED, rate=0.05, clip=0)
    run.scale.factor = first = 2.0**24
    peer = training(SCALED, rate=0.05, clip=0).network
    theirs = torch.optim.SGD(peer.parameters(), lr=0.0, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=first)
    generator = np.random.default_rng([0, 1])
    for step in range(30):
        ids, known = run.task.batch(generator, 2)
        with torch.autocast("cpu", dtype=torch.float16):
            logits = peer(inputs(ids))
        theirs.zero_grad()
        scaler.scale(smoothed_loss(logits, torch.from_numpy(np.where(known, ids, IGNORED)))).backward()
        theirs.param_groups[0]["lr"] = run.budget.rate_at(step)
        scaler.step(theirs)
        scaler.update()
    run.advance(30)
    assert run.scale.skipped > 0 and run.scale.factor == scaler.get_scale() < first
    assert np.isnan(run.curves.norm).sum() == run.scale.skipped
    for mine, other in zip(run.network.parameters(), peer.parameters(), strict=True):
        torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-3)


def test_the_factor_doubles_after_as_many_good_steps_as_torchs_and_ends_at_one():
    scale = LossScale(SCALED)
    for _ in range(INTERVAL):
        scale.grow()
    assert scale.factor == 2 * FIRST
    while scale.shrink():
        pass
    assert scale.factor == 1
    plain = LossScale("float16")
    plain.grow()
    assert plain.factor == 1 and not plain.shrink()


def test_the_share_that_float16_loses_is_what_becomes_zero_in_it():
    gradient = torch.randn(4000, generator=torch.Generator().manual_seed(0)) * 10 ** torch.linspace(-10, -4, 4000)
    gradient[:500] = 0
    becomes_zero = (gradient.half() == 0) & (gradient != 0)
    assert lost_share([gradient]) == pytest.approx(float(becomes_zero.sum() / (gradient != 0).sum()), abs=1 / 3500)
    assert 0.2 < lost_share([gradient]) < 0.8 and lost_share([torch.zeros(3)]) == 0


def test_an_unknown_precision_is_refused():
    with pytest.raises(ValueError, match=r"float64"):
        autocast("float64")
    with pytest.raises(ValueError, match=r"The precision"):
        Budget(precision="int8")


def test_a_run_learns_in_each_precision():
    for precision in PRECISIONS:
        run = training(precision, rate=0.1, steps=40, every=20, rows=8)
        run.advance(41)
        assert run.state == "done" and run.snapshots[-1].loss < run.snapshots[0].loss, precision
