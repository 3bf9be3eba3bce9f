"""A catalog without servers: a family of three banks and one of two shops, two names of one job,
two opposites. The judge says so, whatever its weights are.
"""

from itertools import combinations

from tests.support.scripted import judge_says
from tests.ui.services.small_workspace import TEXT, open_workspace
from toolscope_core.model.tool import Tool


def tool(name, description, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Tool(name, name, description, schema=schema)


def positions(bank):
    text = f"Return all open positions of the account held at {bank.title()}."
    return tool(f"get_positions_{bank}", text, account=TEXT)


def orders(shop):
    text = f"Show what a user ordered at {shop.title()} in the last days, and what it cost."
    return tool(f"{shop}_orders", text, user=TEXT)


def door(verb):
    text = f"{verb.title()} the front door of the house, if somebody is there to see it."
    return tool(f"{verb}_door", text, house=TEXT)


BANKS = tuple(positions(bank) for bank in ("fidelity", "robinhood", "schwab"))
SHOPS = tuple(orders(shop) for shop in ("pearstore", "plumstore"))
RECIPES = tuple(
    tool(f"{verb}_recipe", f"{verb.title()} the recipe of a dish with all its steps.", dish=TEXT)
    for verb in ("get", "fetch")
)
DOORS = (door("lock"), door("unlock"))
TOOLS = (*BANKS, *SHOPS, *RECIPES, *DOORS)


def pairs(tools):
    return list(combinations(sorted(one.id for one in tools), 2))


def open_families(monkeypatch):
    """A workspace with the town analysed, and the catalog's id."""
    return open_workspace(*scripted(monkeypatch))


def scripted(monkeypatch):
    """The tools, once the judge says what they are."""
    families = dict.fromkeys((*pairs(BANKS), *pairs(SHOPS)), 0.8)
    families[pairs(BANKS)[0]] = 0.7
    doubts = dict.fromkeys(pairs(DOORS), 0.05)
    judge_says(monkeypatch, {pairs(RECIPES)[0]: 0.97, **doubts}, families)
    return TOOLS
