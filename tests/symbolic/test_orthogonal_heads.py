"""Orthogonal heads: what their derivations close on, and what they must not close on."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace

import pytest
import sympy as sp

from symbolic import attention_entropy, equiangular, logit, orthogonal_columns, orthogonal_heads
from symbolic import radial_cosine as scalar_cosine
from symbolic.answer import Answer
from symbolic.block_flow import (
    REGION,
    BlockFlow,
    others,
    overlap_motion,
    rho,
    share,
    share_motion,
)
from symbolic.decide import is_zero
from symbolic.derivation import Derivation
from symbolic.flow import Model
from symbolic.notation import beta, gamma, lam, n
from symbolic.orthogonal_forms import FORMS, GAP, LIFT, REST, Forms, other_sizes
from symbolic.region import Range, between

NAMES = tuple(field.name for field in fields(Forms))
models = pytest.mark.parametrize("model", list(Model))


@models
def test_the_derivations_close(model: Model) -> None:
    derivation = orthogonal_columns.derivation(model)
    assert derivation.first_gap is None
    assert derivation.is_closed
    assert orthogonal_heads.derivation(model).is_closed


@models
def test_every_form_is_derived_and_none_is_assumed(model: Model) -> None:
    derivation = orthogonal_columns.derivation(model)
    derived = [step.after.rhs for step in derivation.steps]
    # The fitness is what remains of the rate of a share; it is derived with the mean subtracted.
    for name in NAMES:
        form = getattr(FORMS[model], name)
        assert form in derived or name == "fitness", name
    assumed = [premise.relation.rhs for premise in derivation.premises]
    assert not any(getattr(FORMS[model], name) in assumed for name in NAMES)
    assert all(premise.source for premise in derivation.premises)


ROOTS = ("length", "cosine", "margin", "sharp_margin")


def mutations(name: str) -> Iterator[tuple[str, Callable[[sp.Expr], sp.Expr]]]:
    yield "sign", lambda form: -form
    yield "tiny factor", lambda form: form * (1 + sp.Rational(1, 10**40))
    # What remains of roots after these takes the zero test minutes.
    if name not in ROOTS:
        yield "tokens", lambda form: form.subs(n, n + 1)
        yield "strength", lambda form: form.subs(lam, 2 * lam)
        yield "share", lambda form: form.subs(share, share / 2)
        yield "overlap", lambda form: form.subs(rho, rho / 2)


def mutants() -> Iterator[object]:
    for k, name in enumerate(NAMES):
        for j, (change, mutate) in enumerate(mutations(name)):
            # Every form and every change in some model, by turns.
            model = list(Model)[(k + j) % 3]
            if mutate(getattr(FORMS[model], name)) != getattr(FORMS[model], name):
                yield pytest.param(model, name, mutate, id=f"{model}: {name}: {change}")


def is_broken(mutant: Derivation, original: Derivation) -> bool:
    """Tell whether a step of a derivation that was changed does not close."""
    pairs = zip(mutant.steps, original.steps, strict=True)
    changed = [a for a, b in pairs if (a.before, a.after, a.using) != (b.before, b.after, b.using)]
    assert changed
    return any(step.check().answer is not Answer.YES for step in changed)


@pytest.mark.parametrize(("model", "name", "mutate"), list(mutants()))
def test_a_mutant_does_not_close(
    model: Model, name: str, mutate: Callable[[sp.Expr], sp.Expr]
) -> None:
    forms = replace(FORMS[model], **{name: mutate(getattr(FORMS[model], name))})
    mutant = orthogonal_columns.derivation(model, forms)
    assert is_broken(mutant, orthogonal_columns.derivation(model))


STRUCTURAL = {
    "share_rate without the projection": lambda f: replace(
        f, share_rate=f.share_rate.xreplace({REST: sp.S.One, others: sp.S.Zero})
    ),
    "share_rate without the others": lambda f: replace(
        f, share_rate=f.share_rate.xreplace({others: sp.S.Zero})
    ),
    "power without the others' part of the token": lambda f: replace(
        f, power=f.power.xreplace({REST: sp.S.Zero})
    ),
    "power without the projection": lambda f: replace(f, power=f.square),
    "overlap_rate with the share": lambda f: replace(f, overlap_rate=share * f.overlap_rate),
    "overlap_rate with the others": lambda f: replace(
        f, overlap_rate=f.overlap_rate - others * rho
    ),
    "margin and sharp margin exchanged": lambda f: replace(
        f, margin=f.sharp_margin, sharp_margin=f.margin
    ),
    "energy rate at fixed shares": lambda f: replace(
        f, energy_rate=f.energy_rate.xreplace({share_motion: sp.S.Zero})
    ),
    "entropy rate at fixed shares": lambda f: replace(
        f, entropy_rate=f.entropy_rate.xreplace({share_motion: sp.S.Zero})
    ),
}


@pytest.mark.parametrize("change", STRUCTURAL)
@models
def test_a_mutant_of_another_structure_does_not_close(model: Model, change: str) -> None:
    forms = STRUCTURAL[change](FORMS[model])
    mutant = orthogonal_columns.derivation(model, forms)
    assert is_broken(mutant, orthogonal_columns.derivation(model))


@models
def test_the_forms_of_one_model_do_not_close_in_another(model: Model) -> None:
    other = {
        Model.UNNORMALISED: Model.SOFTMAX,
        Model.SOFTMAX: Model.RELU,
        Model.RELU: Model.UNNORMALISED,
    }[model]
    assert not orthogonal_heads.derivation(model, FORMS[other]).is_closed


def test_a_flow_without_projection_or_in_its_block_alone_is_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answers() -> list[Answer]:
        steps = orthogonal_heads.derivation(Model.UNNORMALISED).steps
        return [s.check().answer for s in steps if s.after.lhs == share_motion]

    assert answers() == [Answer.YES, Answer.YES]
    projected = BlockFlow.token_rate
    space = "symbolic.block_flow.Space.projected"
    monkeypatch.setattr(space, lambda self, x, u: u)
    assert answers() == [Answer.NO, Answer.YES]
    monkeypatch.undo()
    # Projected off the part in the block alone, by its own direction.
    monkeypatch.setattr(BlockFlow, "token", lambda self, i: self.part(i))
    assert BlockFlow.token_rate is projected
    assert answers()[0] is Answer.NO


@models
def test_two_shares_keep_their_sum(model: Model) -> None:
    mu, sigma = sp.symbols("mu sigma", real=True)
    forms = FORMS[model]
    second = {lam: mu, share: 1 - share, rho: sigma}
    rates = [
        forms.share_rate.xreplace({others: forms.shadow.xreplace(second)}),
        forms.share_rate.xreplace(second).xreplace({others: forms.shadow}),
    ]
    region = REGION.having(
        {mu: Range(), sigma: REGION[rho], share: between(0, 1, lower_open=True, upper_open=True)}
    )
    assert is_zero(rates[0], region) is not Answer.YES
    assert is_zero(rates[0] + rates[1], region) is Answer.YES


@models
def test_one_head_is_a_scalar_head(model: Model) -> None:
    alone = {share: sp.S.One, others: sp.S.Zero, other_sizes: sp.S.Zero}
    forms = {name: getattr(FORMS[model], name).xreplace(alone) for name in NAMES}
    region = equiangular.REGION.having({logit.u: Range()})
    in_overlap = {rho: gamma}
    assert is_zero(forms["share_rate"], REGION) is Answer.YES
    rate = forms["overlap_rate"].xreplace(in_overlap) - equiangular.RATES[model]
    assert is_zero(rate, region) is Answer.YES
    of_logit = forms["logit_rate"].subs(rho, logit.OVERLAP) - logit.FIELDS[model]
    assert is_zero(of_logit, region) is Answer.YES
    moved = {share_motion: sp.S.Zero}
    covariance = attention_entropy.COVARIANCE.xreplace({attention_entropy.motion: overlap_motion})
    entropy_rate = forms["entropy_rate"].xreplace(in_overlap).xreplace(moved)
    assert is_zero(entropy_rate + beta**2 * covariance, region) is Answer.YES
    if model is not Model.RELU:
        positive = scalar_cosine.REGION
        cosine = forms["cosine"].xreplace(in_overlap) - scalar_cosine.EXPRESSION
        assert is_zero(cosine, positive) is Answer.YES
        assert is_zero(forms["power"] - (forms["square"] - forms["shadow"] ** 2)) is Answer.YES


@models
def test_numbers_can_be_put_in_for_the_parts(model: Model) -> None:
    forms = FORMS[model]
    assert all(forms.power.has(part) for part in (REST, GAP, LIFT))
    assert forms.share_rate.has(REST)
    for name in ("entropy", "entropy_rate", "overlap_rate", "power", "margin", "sharp_margin"):
        parts = {GAP: sp.Symbol("gap"), LIFT: sp.Symbol("lift"), REST: sp.Symbol("rest")}
        form = getattr(forms, name).xreplace(parts)
        # What remains of 1 - rho and 1 - s would lose the digits that the parts keep.
        assert not form.has(1 - rho), name
        assert not form.has(1 - share), name


def test_the_flow_of_one_block_knows_nothing_of_what_is_left_open() -> None:
    left_open = sp.symbols("z_i.z_j z_i.F_j F_i.F_j F_i.F_i", real=True)
    for model in Model:
        flow = BlockFlow(model, 3)
        assert flow.space.gram.has(*left_open)
        results = (flow.pair_rate(0, 0), flow.pair_rate(0, 1), flow.power(0), flow.shadow(0))
        assert not any(sp.expand(result).has(*left_open) for result in results)


def test_a_derivation_can_be_printed() -> None:
    written = orthogonal_heads.derivation(Model.SOFTMAX)._repr_latex_()
    assert "not closed" not in written
    assert r"\tanh" in written
