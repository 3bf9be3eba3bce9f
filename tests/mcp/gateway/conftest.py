import pytest

from tests.mcp.gateway.stub_toolset import configuration, stub_catalog, write_stub_toolset
from tests.profiles.shelf import saved
from toolscope_core.mcp.servers.sessions import load_sdk

load_sdk()

NORTHERN = {
    "north/get": {"name": "open", "description": "Open it."},
    "north/work": {"fixed": {"server": "north", "size": 3}},
}


@pytest.fixture(scope="session")
def toolset(tmp_path_factory):
    """The folder of the bundle."""
    return write_stub_toolset(tmp_path_factory.mktemp("toolset"))


@pytest.fixture
def servers(tmp_path):
    """The configuration of the original servers."""
    return configuration(tmp_path)


@pytest.fixture(scope="session")
def profiled(tmp_path_factory):
    """The bundle of the stub toolset with a profile of the north and one of the south."""
    catalog = stub_catalog()
    log = saved(catalog, name="reader", ids=tuple(NORTHERN), own=NORTHERN)
    log = saved(catalog, log, "southern", include={"servers": ["south"]})
    named = {"resources": ["north+file:///b.txt", "north+file:///d/{x}", "west+file:///w"]}
    named["prompts"] = ["north+greet"]
    log = saved(catalog, log, "clerk", ids=("north/same", "south/same"), **named)
    return write_stub_toolset(tmp_path_factory.mktemp("profiled"), log=log)
