"""The retriever over a few tools, with an embedder of words."""

import math

import numpy as np
import pytest

from tests.support.fakes import WordEmbedder
from toolscope_core.catalog.relabelling import with_members
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest, top1_assembly
from toolscope_core.retrieval.documents import FEW, argument_text, tool_document
from toolscope_core.retrieval.retriever import Retriever, ranked_by_words

TEXT = {"type": "string", "description": "The name of a town."}


def tool(name, description, **properties):
    return Tool(name, name, description, schema={"type": "object", "properties": properties})


TOOLS = (
    tool("send_mail", "Send a mail to a person.", receiver={"type": "string"}),
    tool("get_weather", "Tell the weather.", town=TEXT),
    tool("list_files", "List the files of a folder."),
    Tool("nameless", "x_1"),
)


@pytest.fixture
def open_retriever(tmp_path):
    def make(tools=TOOLS, **config):
        cache = VectorCache(tmp_path / "cache")
        return Retriever(tools, WordEmbedder(), cache, RetrievalConfig(**config))

    return make


def ids(places):
    return [one.tool_id for one in places]


def test_the_text_holds_name_description_and_arguments():
    weather = TOOLS[1]
    expected = f"get_weather: {weather.description} town: {TEXT['description']}"
    assert argument_text(weather) == expected
    assert argument_text(TOOLS[0]).endswith("person. receiver")
    assert argument_text(Tool("t", "…")) == "…:"


def test_a_text_begins_with_the_server_and_a_server_is_not_named_twice():
    listing = Tool("a", "list_issues", "List issues.", server="notion-mcp")
    assert tool_document(listing).full == f"notion mcp {argument_text(listing)}"
    assert tool_document(listing, with_server=False).full == argument_text(listing)
    assert tool_document(TOOLS[0]).full == argument_text(TOOLS[0])


def test_a_server_named_in_the_request_brings_its_tool(open_retriever):
    twins = [Tool(f"{name}.find", "find", "Find a page.", server=name) for name in "ab"]
    named = [Tool("z", "find", "Find a page.", server="notion"), *twins]
    assert ids(open_retriever(named).search(ToolRequest("find a page in notion"), 1)) == ["z"]


@pytest.mark.parametrize("assembly", ["blend", "top1"])
def test_a_merged_tool_ranks_as_the_best_of_its_members(open_retriever, assembly):
    outgoing = Tool("list_files", "list_files", TOOLS[2].description, schema=TOOLS[2].schema)
    phi = {"get_weather": "list_files", "nameless": "list_files"}
    tools = with_members((TOOLS[0], outgoing), Catalog(TOOLS), phi)
    before, after = (open_retriever(some, assembly=assembly) for some in (TOOLS, tools))
    assert after.ids == ("list_files", "send_mail") and len(after.vectors) == 2
    for text in ("weather in my town", "a mail", "files of a folder", "get_weather"):
        request = ToolRequest(text, ("the weather", "send a mail"))
        ranking = [(phi.get(one.tool_id, one.tool_id), one.score) for one in before.search(request)]
        expected = dict(reversed(ranking))
        assert {one.tool_id: one.score for one in after.search(request)} == expected
        assert ids(after.search(request)) == list(dict.fromkeys(name for name, _ in ranking))
        assert len(after.search(request, 1)) == 1
    assert after.text_scores([ToolRequest("weather")])[0].shape == (2,)


def test_a_merged_tool_is_found_by_its_new_words_too(open_retriever):
    outgoing = Tool("list_files", "browse", "Walk through the drawers.")
    (merged,) = with_members([outgoing], Catalog(TOOLS[2:3]), {})
    search = open_retriever([TOOLS[0], merged, TOOLS[3]])
    for text in ("drawers", "browse", "files of a folder"):
        assert ids(search.search(text, 1)) == ["list_files"]


def test_the_best_tool_is_first_and_its_parts_are_told(open_retriever):
    first, *others = open_retriever().search(ToolRequest("weather in my town"), 3)
    assert first.tool_id == "get_weather"
    assert first.score == pytest.approx(1.0)
    assert first.subquery is None
    assert first.dense > max(one.dense for one in others)
    assert first.sparse > 0.0
    assert first.by == "dense"
    assert open_retriever(dense_weight=0.1).search(ToolRequest("weather"), 1)[0].by == "sparse"


@pytest.mark.parametrize("by_rule", [True, False])
def test_the_parts_add_up_to_the_score_over_all_texts(open_retriever, by_rule):
    request = ToolRequest("the weather and mail", ("tell the weather", "send a mail"), by_rule)
    places = open_retriever().search(request, 4)
    assert all(sum(one.parts) == pytest.approx(one.score) for one in places)
    assert {one.tool_id: one.subquery for one in places[:2]} == {"get_weather": 0, "send_mail": 1}


def test_under_top1_the_parts_are_those_of_the_text_that_brought_the_tool(open_retriever):
    request = ToolRequest("weather and mail", ("tell the weather", "send a mail"))
    first = open_retriever(assembly="top1").search(request, 2)[0]
    (alone,) = open_retriever().search(ToolRequest("tell the weather"), 1)
    assert first.parts == alone.parts


def test_an_argument_alone_finds_its_tool(open_retriever):
    assert ids(open_retriever(dense_weight=0.0).search(ToolRequest("receiver"), 1)) == ["send_mail"]


def test_equal_scores_are_in_the_order_of_ids_whatever_came_first(open_retriever):
    same = [Tool(one, "do_it", "Does it.") for one in "cab"]
    for tools in (same, same[::-1]):
        assert ids(open_retriever(tools).search(ToolRequest("do it"), 3)) == ["a", "b", "c"]


def test_k_beyond_the_tools_no_tools_and_no_text(open_retriever):
    assert len(open_retriever().search(ToolRequest("weather"), 99)) == len(TOOLS)
    assert open_retriever(()).search(ToolRequest("weather")) == ()
    for text in ("", "  \n"):
        assert open_retriever().search(ToolRequest(text)) == ()
    assert open_retriever().search(ToolRequest("weather"), 0) == ()


def test_each_sub_query_brings_its_tool(open_retriever):
    request = ToolRequest("files and a mail", ("list the files", "send a mail"))
    for assembly in ("blend", "top1"):
        places = open_retriever(assembly=assembly).search(request, 2)
        assert {one.tool_id: one.subquery for one in places} == {"list_files": 0, "send_mail": 1}
    one = ToolRequest("files", ("files",))
    assert open_retriever().search(one, 1)[0].subquery is None


def test_sub_queries_of_a_person_or_a_model_weigh_more(open_retriever):
    whole, parts = "weather weather weather", ("list the files", "send a mail")
    first = ids(open_retriever().search(ToolRequest(whole, parts), 1))
    assert first == ["get_weather"]
    steps = ToolRequest(whole, parts, by_rule=False)
    assert {*ids(open_retriever(step_weight=9.0).search(steps, 2))} == {"list_files", "send_mail"}
    assert ids(open_retriever(step_weight=0.0).search(steps, 1)) == first


def test_many_at_once_are_what_each_is_alone(open_retriever):
    requests = [ToolRequest("weather"), ToolRequest("files and mail", ("files", "mail"))]
    retriever = open_retriever()
    assert retriever.search_each(requests, 3) == tuple(retriever.search(one, 3) for one in requests)


def test_few_texts_are_embedded_at_once_and_many_are_kept(open_retriever, tmp_path):
    retriever = open_retriever()
    retriever.encode_documents()
    files = {path.name for path in tmp_path.rglob("*.vec")}
    retriever.search(ToolRequest("weather"))
    assert {path.name for path in tmp_path.rglob("*.vec")} == files
    retriever.search_each([ToolRequest(f"weather of day {day}") for day in range(FEW + 1)])
    assert {path.name for path in tmp_path.rglob("*.vec")} != files


def test_steps_submitted_alone_leave_the_request_nothing(open_retriever):
    steps = ("weather of a town", "send a mail")
    search = open_retriever(step_weight=math.inf, rerank="none")
    apart = [search.search(ToolRequest(one), 4) for one in steps]
    best = {}
    for place in (place for ranking in apart for place in ranking):
        best[place.tool_id] = max(place.score, best.get(place.tool_id, 0.0))
    together = search.search(ToolRequest("another thing", steps, by_rule=False), 4)
    assert {one.tool_id: one.score for one in together} == {
        one.tool_id: pytest.approx(best[one.tool_id]) for one in together
    }


def test_a_weight_of_nothing_is_the_request_alone(open_retriever):
    parts = ToolRequest("weather", ("list files", "send mail"))
    alone = ids(open_retriever().search(ToolRequest("weather"), 4))
    assert ids(open_retriever(subquery_weight=0.0).search(parts, 4)) == alone


def test_assembly_by_equation_5_by_hand():
    scores = [np.float32([0.9, 0.5, 0.1, 0.3]), np.float32([0.2, 0.1, 0.8, 0.6])]
    order, shown = top1_assembly(scores, 4, 4)
    # first: row 0 and row 2; among the others of the second row 3 is its best, as row 1 of the first
    assert order == [0, 2, 1, 3]
    assert shown == pytest.approx([1.0, 1.0, 1.0, 1.0])
    assert top1_assembly(scores, 1, 4)[0] == [0]
    assert top1_assembly(scores, 4, 1)[0] == [0, 2]
    assert top1_assembly([scores[0], scores[0]], 2, 4)[0] == [0, 1]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dense_weight": 1.5}, "the dense weight"),
        ({"assembly": "best"}, "'best'; use blend or top1"),
        ({"subquery_weight": -1.0}, "use 0 or more"),
        ({"candidates": 0}, "candidates is 0"),
        ({"rerank": " "}, "rerank` is empty"),
        ({"corpus": "all"}, "'all'; .* both, tools"),
        ({"server_weight": float("inf")}, "server_weight` is inf"),
        ({"step_weight": -1.0}, "step_weight is -1.0"),
    ],
)
def test_wrong_settings_are_named(wrong, message):
    with pytest.raises(ConfigError, match=message):
        RetrievalConfig(**wrong)


# An answer by words alone, for the time in which the vectors of a large catalog are made.

MAIL = Tool(id="a/send_mail", server="a", name="send_mail", description="Send a mail")
BOOK = Tool(id="b/read_book", server="b", name="read_book", description="Read a book to a child")
MAILS = Tool(id="c/list", server="c", name="list_mails", description="List the mails of a box")


def test_tools_that_share_a_word_are_ranked_and_no_others():
    places = ranked_by_words([BOOK, MAILS, MAIL], "send mail")
    assert [place.tool_id for place in places] == ["a/send_mail", "c/list"]
    assert [place.by for place in places] == ["sparse", "sparse"]
    assert ranked_by_words([MAILS, MAIL], "list mails", 1)[0].tool_id == "c/list"
    assert places[0].score > places[1].score
    assert ranked_by_words([BOOK, MAILS, MAIL], "send mail", 1) == places[:1]
    assert ranked_by_words([BOOK], "weather") == ranked_by_words([], "weather") == ()


CHINESE = {
    "query_info": "查询文件的元数据，例如标题、创建者和修改时间",
    "create_mind": "用 Markdown 生成思维导图",
    "translate": "把文字翻译成另一种语言",
}
ASKED = {"文件元数据": "query_info", "思维导图": "create_mind", "把这段话翻译成英文": "translate"}


def test_where_the_encoder_cannot_read_a_request_its_words_rank(vector_cache):
    tools = [Tool(id=name, name=name, description=text) for name, text in CHINESE.items()]
    retriever = Retriever(tools, cache=VectorCache(vector_cache))
    for text, answer in ASKED.items():
        first = retriever.search(text)[0]
        assert (first.tool_id, first.by) == (answer, "sparse")
        assert first.parts == (0.0, pytest.approx(1.0, abs=1e-6), 0.0, 0.0)
    assert retriever.search("read a document")[0].parts[0] > 0.0
    assert retriever.search("ค้นหา")[0].parts[0] > 0.0, "no word is shared: the vectors are all"
