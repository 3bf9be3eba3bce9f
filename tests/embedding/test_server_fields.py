import numpy as np
import pytest

from toolscope_core.embedding import server_fields as fields
from toolscope_core.embedding.minilm import QUANTIZED_MODEL, MiniLmEmbedder

TEXTS = ("Send an email.", "Search the inbox.", "List mails in a folder.", "Mine a block.")


def test_a_server_is_as_near_to_another_as_what_their_tools_are_about():
    vectors, servers = MiniLmEmbedder().encode(TEXTS), np.array([1, 1, 2, 3])
    mails, other_mails, coins = fields.server_fields(vectors, servers, QUANTIZED_MODEL)[1:]
    assert mails @ other_mails > 0.2 > mails @ coins
    assert [float(row @ row) for row in (mails, coins)] == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(("model", "width"), [("thenlper/gte-large", 384), (QUANTIZED_MODEL, 8)])
def test_what_servers_are_about_is_not_known_for_other_embeddings(model, width):
    vectors = np.ones((2, width), dtype=np.float32)
    assert fields.server_fields(vectors, np.array([1, 2]), model) is None
