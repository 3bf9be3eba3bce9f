import pytest

from toolscope_core.files.json_lines import rows_in
from toolscope_core.model.errors import ConfigError


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_json_does_not_have_is_refused_with_its_line(constant):
    lines = f'{{"gold": []}}\n{{"gold": [], "calls": [{{"a": {constant}}}]}}\n'
    with pytest.raises(ConfigError, match=rf"q\.jsonl, line 2 .*\({constant}"):
        list(rows_in(lines.encode(), "q.jsonl"))
