"""Orthogonal heads do not keep every energy rising: a head with a small share loses energy.

On the sphere the radial shadows of the other heads enter dE_h/dt (Theorem 17). This is the smallest
regime where they win: two heads on orthogonal blocks, unnormalised model.
"""

import mhflow

run = mhflow.simulate_orthogonal_heads(
    model="unnormalised",
    lam="1, 13/10",
    shares="0.9, 0.1",
    overlaps="0.6, 0.6",
    n=8,
    beta=2,
    until=1,
    points=6,
    digits=15,
)
print(f"relative error of the state: {run.error}")
for name in ("t", "share_h2", "energy_h2", "denergy_h2", "condition8_h2"):
    print(f"{name:>24}", end="")
print()
for k in range(6):
    for name in ("t", "share_h2", "energy_h2", "denergy_h2", "condition8_h2"):
        print(f"{run.columns[name][k]:>24}", end="")
    print()
