"""An answer by words alone, for the time in which the vectors of a large catalog are made."""

import pytest

from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.retriever import Retriever, ranked_by_words

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
    "insert_dimension": "在表格中插入行或列",
    "slide_append": "在幻灯片末尾追加文字",
    "canvas_read": "读取智能文档的内容",
    "translate": "把文字翻译成另一种语言",
}
ASKED = {
    "文件元数据": "query_info",
    "思维导图": "create_mind",
    "插入一行": "insert_dimension",
    "幻灯片": "slide_append",
    "读取文档": "canvas_read",
    "把这段话翻译成英文": "translate",
}


def test_where_the_encoder_cannot_read_a_request_its_words_rank(vector_cache):
    tools = [Tool(id=name, name=name, description=text) for name, text in CHINESE.items()]
    retriever = Retriever(tools, cache=VectorCache(vector_cache))
    for text, answer in ASKED.items():
        first = retriever.search(text)[0]
        assert (first.tool_id, first.by) == (answer, "sparse")
        assert first.parts == (0.0, pytest.approx(1.0, abs=1e-6), 0.0, 0.0)
    assert retriever.search("read a document")[0].parts[0] > 0.0
    assert retriever.search("ค้นหา")[0].parts[0] > 0.0, "no word is shared: the vectors are all"
