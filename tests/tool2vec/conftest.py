import pytest

from tests.tool2vec.tiny_bert import save_tiny_bert


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("tiny"))
