import numpy as np
import pytest

from toolscope_core.judging.far_pairs import actions_across, of_one_object
from toolscope_core.model.tool import Tool
from toolscope_core.wording.products import Products
from toolscope_core.wording.reading import read_tool


def pairs(*names, servers=("one", "two"), accounts=("acme", "acme"), cosine=0.0):
    tools = [
        Tool(name, name, "", server, {"type": "object"})
        for name, server in zip(names, servers, strict=True)
    ]
    products = [Products(accounts=frozenset([account])) for account in accounts]
    vectors = np.array([[1.0, 0.0], [cosine, (1 - cosine**2) ** 0.5]], dtype=np.float32)
    rows = of_one_object(tools, products, lambda row: read_tool(tools[row]), vectors, 0.6)
    return list(zip(*map(np.ndarray.tolist, rows), strict=True))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("list_channel_members", "get_conversation_members"),
        ("console_output", "get_build_output"),
        ("delete_ticket", "remove_support_ticket"),
    ],
)
def test_one_object_and_one_act_are_compared_at_any_distance(left, right):
    assert pairs(left, right) == [(0, 1)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("list_members", "list_channels"),
        ("get_member", "list_members"),
        ("create_project", "delete_project"),
    ],
)
def test_another_object_number_or_act_is_not(left, right):
    assert pairs(left, right) == []


def test_only_far_tools_of_two_servers_for_one_product_are_such_pairs():
    names = "list_channel_members", "get_conversation_members"
    assert pairs(*names, accounts=("acme", "other")) == []
    assert pairs(*names, servers=("one", "one")) == []
    assert pairs(*names, servers=("one", "")) == []
    assert pairs(*names, cosine=0.7) == []


def test_an_unlisted_product_is_one_too():
    tools = [Tool(n, n, "", f"s{n}", {"type": "object"}) for n in ("add_note", "zorblax_add_note")]
    products = [Products(unlisted=frozenset({"zorblax"}))] * 2
    vectors = np.eye(2, dtype=np.float32)
    left, right = of_one_object(tools, products, lambda row: read_tool(tools[row]), vectors, 0.6)
    assert (left.tolist(), right.tolist()) == ([0], [1])


def general(name, *values):
    choice = {"type": "string", "enum": list(values)}
    schema = {"type": "object", "properties": {"kind": choice}, "required": ["kind"]}
    return Tool("general", name, "", "two", schema)


def across(name, other, accounts=("", ""), server="one"):
    special = Tool("special", name, "", server, {"type": "object"})
    products = [Products(accounts=frozenset(filter(None, [one]))) for one in accounts]
    left, right = actions_across([special, other], products)
    return list(zip(left.tolist(), right.tolist(), strict=True))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("compute_sha256_hash", general("compute_hash", "md5", "sha256")),
        ("encode_base64", general("encode", "base32", "base64")),
        ("get_income_statement", general("get_statement", "income", "balance")),
    ],
)
def test_a_value_may_complete_the_name_of_a_tool_that_serves_all(name, other):
    assert across(name, other) == [(0, 1)]
    assert across(name, other, server="two") == []


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("encode_url", general("encode", "base32", "base64")),
        ("send_mail", general("send", "mail", "letter")),  # to whom, and in whose name
        ("list_memories", general("debug_memory", "list", "clear")),  # no noun completes the name
    ],
)
def test_another_value_an_effect_or_a_verb_alone_is_no_such_tool(name, other):
    assert across(name, other) == []


def test_tools_that_read_from_two_products_are_no_such_pair():
    statement = general("get_statement", "income", "balance")
    assert across("get_income_statement", statement, ("acme", "other")) == []
    assert across("get_income_statement", statement, ("acme", "acme")) == [(0, 1)]
    assert across("encode_base64", general("encode", "base64", "hex"), ("acme", "")) == [(0, 1)]
