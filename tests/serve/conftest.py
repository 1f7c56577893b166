import pytest
from serve_samples import toy_bundle


@pytest.fixture
def make_bundle(tmp_path):
    """A function that writes a toy bundle and gives its folder."""
    return lambda **given: toy_bundle(tmp_path / "bundle", **given)
