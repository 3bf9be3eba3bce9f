import pytest

from tests.mcp.gateway.stub_toolset import configuration, write_stub_toolset
from toolscope_core.mcp.servers.sessions import load_sdk

load_sdk()


@pytest.fixture(scope="session")
def toolset(tmp_path_factory):
    """The folder of the bundle."""
    return write_stub_toolset(tmp_path_factory.mktemp("toolset"))


@pytest.fixture
def servers(tmp_path):
    """The configuration of the original servers."""
    return configuration(tmp_path)
