"""Rules for every test."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.support import global_state, restore_changed

# Two runs draw the same examples, and a busy machine fails nothing.
settings.register_profile(
    "ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci")


@pytest.fixture(autouse=True)
def global_state_unchanged() -> Iterator[None]:
    """Fail the test that leaves global state changed, and put the state back."""
    before = global_state()
    yield
    changes = restore_changed(before)
    if changes:
        pytest.fail("global state changed: " + "; ".join(changes), pytrace=False)
