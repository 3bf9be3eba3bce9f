import pytest

from toolscope_core.files import folders as module
from toolscope_core.files.folders import app_folder
from toolscope_core.model.errors import ConfigError


def test_the_app_is_found_in_a_checkout_where_it_is_installed_and_nowhere(tmp_path, monkeypatch):
    assert (app_folder() / "app.py").is_file()
    checkout, installed = tmp_path, tmp_path / "toolscope_app"
    monkeypatch.setattr(module, "_PLACES", (checkout, installed))
    with pytest.raises(ConfigError, match="workbench"):
        app_folder()
    (installed / "ui").mkdir(parents=True)
    (installed / "app.py").touch()
    assert app_folder() == installed
    (checkout / "ui").mkdir()
    assert app_folder() == installed, "a folder of somebody else's"
    (checkout / "app.py").touch()
    assert app_folder() == checkout
