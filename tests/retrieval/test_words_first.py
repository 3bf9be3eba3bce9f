"""An answer by words alone, for the time in which the vectors of a large catalog are made."""

from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.retriever import ranked_by_words

MAIL = Tool(id="a/send_mail", server="a", name="send_mail", description="Send a mail")
BOOK = Tool(id="b/read_book", server="b", name="read_book", description="Read a book to a child")
MAILS = Tool(id="c/list", server="c", name="list_mails", description="List the mails of a box")


def test_tools_that_share_a_word_are_ranked_and_no_others():
    places = ranked_by_words([BOOK, MAILS, MAIL], "send mail")
    assert [place.tool_id for place in places] == ["a/send_mail", "c/list"]
    assert [place.by for place in places] == ["sparse", "sparse"]
    assert places[0].score > places[1].score
    assert ranked_by_words([BOOK, MAILS, MAIL], "send mail", 1) == places[:1]
    assert ranked_by_words([BOOK], "weather") == ranked_by_words([], "weather") == ()
