import pytest

from tests.mcp.gateway.town import configuration, write_town
from toolscope_core.mcp.servers.sessions import load_sdk

load_sdk()


@pytest.fixture(scope="session")
def town(tmp_path_factory):
    """The folder of the bundle."""
    return write_town(tmp_path_factory.mktemp("town"))


@pytest.fixture
def servers(tmp_path):
    """The configuration of the original servers."""
    return configuration(tmp_path)
