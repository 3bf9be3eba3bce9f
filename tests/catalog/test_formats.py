"""Every format has its reader, its writer and a file in the test data."""

import pytest

from tests.catalog.test_writers import CATALOGS
from toolscope_core.catalog.clients.client_table import CLIENTS
from toolscope_core.catalog.formats.format_table import INPUTS, OFFERED, RECORD_FORMATS
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths

READ = {read_catalog(load_paths([path])).files[0].format for path in CATALOGS}


@pytest.mark.parametrize("name", INPUTS)
def test_a_format_has_a_file_in_the_test_data(name):
    """It is read, and written again, in ``test_writers``."""
    assert name in READ, f"add a file of {name} to tests/data, and its reader"


def test_the_places_and_uses_of_the_formats_agree():
    forms = RECORD_FORMATS.values()
    numbers = sorted(form.offered for form in forms if form.offered)
    assert numbers == list(range(1, len(OFFERED) + 1))
    unoffered = [form for form in forms if not form.offered]
    assert not any(form.in_prompts or form.advised or form.needs_schema for form in unoffered)
    names = [*INPUTS, *(client.name for client in CLIENTS)]
    files = [client.file for client in CLIENTS]
    assert len(names) == len(set(names)) and len(files) == len(set(files))
    assert all(target.title for target in (*forms, *CLIENTS))
