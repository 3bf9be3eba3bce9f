import numpy as np
import pytest

from toolscope_core.judging.far_pairs import of_one_object
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
