"""What all tests share: reproducible runs of hypothesis, and the rule for data sets that are absent."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.support")  # what a helper asserts is told in full too

from tests.support.places import DATA  # noqa: E402

# The same examples on every machine: a law that fails in one run fails in all of them.
settings.register_profile(
    "workup",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("workup")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of the public data sets are skipped, with the reason, where the folder is absent."""
    if DATA.is_dir():
        return
    for item in items:
        if item.get_closest_marker("real_data"):
            item.add_marker(pytest.mark.skip(reason="the public data sets are not kept beside this checkout"))


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What Workup remembers of runs made here goes to a folder of the tests, not to that of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def no_warning() -> Iterator[None]:
    """A warning is a number that went wrong in silence, or a line that a user should not have to read."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
