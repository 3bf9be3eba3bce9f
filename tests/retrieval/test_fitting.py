"""Whether any tool fits a request, and how that is counted."""

import pytest

from tests.support.fakes import WordEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.metrics import Refusals, auroc
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.fitting import SIGNALS, Fit, fit_of, fit_weights
from toolscope_core.retrieval.retriever import Retriever

TOOLS = (
    Tool("forecast", "get_weather_forecast", "Get the weather forecast of a city."),
    Tool("mail", "send_mail", "Send a mail to a person."),
    Tool("table", "create_table", "Create a table in a database."),
    Tool("song", "play_song", "Play a song of an artist."),
)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory):
    return Retriever(TOOLS, cache=VectorCache(tmp_path_factory.mktemp("cache")))


def test_a_request_is_told_from_one_that_no_tool_serves(retriever):
    served, unserved = retriever.answers(
        [ToolRequest("What is the weather forecast for Oslo?"), ToolRequest("Peel two onions")], 2
    )
    assert served.fit.probability > 0.6 and not served.is_none and not served.fit.is_uncertain
    assert unserved.is_none and unserved.fit.is_uncertain
    assert [len(one.places) for one in (served, unserved)] == [2, 2]
    assert served.places == retriever.search("What is the weather forecast for Oslo?", 2)


def test_the_tool_that_is_taken_out_is_missed(retriever):
    request = "Send a mail to Ann"
    others = retriever.over(one for one in TOOLS if one.id != "mail")
    assert others.answer(request).fit.probability < retriever.answer(request).fit.probability / 2


@pytest.mark.parametrize("text", ["", "  ", "发送一封电子邮件给安"])
def test_what_cannot_be_read_has_no_fit(retriever, text):
    answer = retriever.answer(text)
    assert answer.fit is None and not answer.is_none


def test_the_weights_are_those_of_one_encoder(tmp_path):
    other = Retriever(TOOLS, WordEmbedder(), VectorCache(tmp_path))
    assert other.answer("send a mail").fit is None
    plain = Retriever(TOOLS, cache=VectorCache(tmp_path), config=RetrievalConfig(rerank="none"))
    assert plain.answer("send a mail").fit is None


def test_each_signal_has_a_weight():
    weights = fit_weights()
    assert tuple(weights["signals"]) == SIGNALS
    assert 0 < weights["none_below"] < weights["uncertain_below"] < 1
    assert fit_of([1.0] * len(SIGNALS)).probability > fit_of([0.0] * len(SIGNALS)).probability


def test_refusals_are_counted_apart():
    high, low = Fit(0.9), Fit(0.01)
    refusals = Refusals.of([high, high, low, None], [low, high])
    assert refusals.served.mean == pytest.approx(1 / 3)
    assert refusals.unserved.mean == 0.5
    assert refusals.auroc == pytest.approx((2 + 0 + 1 + 0.5) / 6 + 0)
    assert Refusals.of([high], []).auroc is None
    assert Refusals.of([None], [low]) is None
    assert auroc([2, 3], [1]) == 1 and auroc([1], [1]) == 0.5
