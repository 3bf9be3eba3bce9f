import pytest

from toolscope_core.model.errors import ConfigError, missing_packages_in_words


def test_a_package_of_an_extra_that_is_missing_is_said_with_the_extra():
    with pytest.raises(ConfigError, match=r"mcp_types.*\[gate"), missing_packages_in_words():
        raise ModuleNotFoundError("No module named 'mcp_types.version'", name="mcp_types.version")


def test_another_missing_module_stays_a_bug():
    with pytest.raises(ModuleNotFoundError), missing_packages_in_words():
        raise ModuleNotFoundError("No module named 'numpy'", name="numpy")
