"""Condition 8 is sufficient, not necessary: here no head fulfils it, yet all energies rise.

Tokens drawn from the sphere under three heads, in float64. At all times shown the margin of every
head is negative and dE_h/dt positive. With a directory as argument, the run is also written there,
as run.csv and run.svg.
"""

import sys
from pathlib import Path

import numpy as np

import mhflow

run = mhflow.simulate_tokens(
    heads=mhflow.scalar_heads("1/2, 1, 2", d=6),
    tokens=mhflow.random_tokens(n=12, d=6, seed=1),
    beta=2,
    until=4,
    points=9,
    digits=None,
)
assert run.states is not None
overlaps = (run.states @ run.states.transpose(0, 2, 1)).min(axis=(1, 2))
slopes = np.min([np.asarray(run.columns[f"denergy_h{k}"], float) for k in (1, 2, 3)], axis=0)
margins = np.max([np.asarray(run.columns[f"condition8_h{k}"], float) for k in (1, 2, 3)], axis=0)

print(f"relative error of the state: about {run.error}")
print(f"{'t':>4} {'least overlap':>14} {'least dE_h/dt':>14} {'largest margin':>15}")
for t, *row in zip(run.columns["t"], overlaps, slopes, margins, strict=True):
    print(f"{t:4.1f} {row[0]:14.6f} {row[1]:14.3e} {row[2]:15.6f}")

if len(sys.argv) > 1:
    folder = Path(sys.argv[1])
    (folder / "run.csv").write_text(mhflow.simulation_csv(run), encoding="utf-8")
    (folder / "run.svg").write_bytes(mhflow.simulation_plot(run, "svg"))
