"""Tool-to-Agent retrieval over three servers, with an embedder of words."""

import pytest

from tests.support.fakes import WordEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.documents import server_document, server_profiles
from toolscope_core.retrieval.retriever import ServerRetriever

CATALOG = Catalog(
    tools=(
        Tool("post/send", "send_mail", "Send a letter.", server="post"),
        Tool("post/read", "read_mail", "Read a letter.", server="post"),
        Tool("sky/get", "get_weather", "Tell the weather.", server="sky"),
        Tool("sky/warn", "get_warning", "Tell of storms.", server="sky"),
        Tool("disk/list", "list_files", "List a folder.", server="disk"),
        Tool("loose", "send_parcel", "Send a parcel."),
    ),
    servers=(Server("post", "Everything about mail."), Server("sky"), Server("empty", "None.")),
    format="neutral",
)


@pytest.fixture
def search(tmp_path):
    def run(text, k=5, subqueries=(), **config):
        cache = VectorCache(tmp_path)
        found = ServerRetriever(CATALOG, WordEmbedder(), cache, RetrievalConfig(**config))
        return found.search(ToolRequest(text, subqueries), k)

    return run


def test_tools_lead_to_their_servers_and_a_server_comes_once(search):
    first, *others = search("tell the weather")
    assert (first.server, first.tool_id, first.subquery) == ("sky", "sky/get", None)
    assert {one.server for one in others} == {"post", "disk"}
    assert [one.score for one in others] == sorted((one.score for one in others), reverse=True)


def test_a_server_stands_first_for_its_exact_name(search):
    for text in ("disk", "Disk"):
        assert (search(text)[0].server, search(text)[0].score) == ("disk", 1.0)
    assert search("disk", 1, rerank="none", corpus="tools")[0].server == "disk"


def test_tools_without_a_server_lead_nowhere(search):
    assert all(one.tool_id != "loose" for one in search("send a parcel"))


def test_a_servers_own_text_finds_it_where_no_tool_does(search):
    assert search("everything about", 1)[0].server == "post"
    assert search("everything about", 1)[0].tool_id is None
    assert search("everything about", 1, corpus="tools")[0].tool_id is not None
    assert all(one.tool_id is None for one in search("mail", corpus="servers"))


def test_each_step_brings_its_server(search):
    for assembly in ("blend", "top1"):
        places = search("x", 2, ("list files", "get weather"), assembly=assembly)
        assert {one.server: one.subquery for one in places} == {"disk": 0, "sky": 1}


def test_scores_by_hand(search):
    both, tools = (
        {one.server: one.score for one in search("weather", dense_weight=0.0, corpus=corpus)}
        for corpus in ("both", "tools")
    )
    assert tools["sky"] == pytest.approx(1.0)
    assert tools["disk"] == both["disk"] == 0.0
    weightless = search("weather", dense_weight=0.0, server_weight=0.0)
    # the tool whose name is the word scores highest: 1, and with half of the server's own less
    assert {one.server: one.score for one in weightless}["sky"] == pytest.approx(1.0)
    assert both["sky"] < 1.0


def test_k_beyond_the_servers_no_text_and_no_servers(search, tmp_path):
    assert len(search("mail", 9)) == 3
    assert search(" ") == ()
    alone = Catalog(tools=CATALOG.tools[-1:], servers=(), format="neutral")
    found = ServerRetriever(alone, WordEmbedder(), VectorCache(tmp_path))
    assert found.profiles == () and found.search(ToolRequest("send")) == ()


def test_a_server_without_a_description_gets_one_of_its_tools_words_marked_as_such():
    disk, post, sky = server_profiles(CATALOG)
    assert (post.description, post.is_made_up) == ("Everything about mail.", False)
    assert (sky.description, sky.is_made_up) == ("get, weather, warning", True)
    assert disk.description == "list, files"
    tools = [CATALOG.by_id[one] for one in sky.tools]
    assert server_document(sky, tools).full == "sky: get weather; get warning"
    assert server_document(post, ()).full == "post: Everything about mail."
