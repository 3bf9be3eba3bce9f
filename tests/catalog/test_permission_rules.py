"""A person's permission rules beside the tools that an export switches off."""

import pytest

from tests.catalog.test_clients import MAILS, SENT, cluster, planned
from toolscope_core.catalog.clients.permission_rules import missing_servers, settings_after

PLAN = planned(cluster([*MAILS[:2], SENT], "alpha/send_mail"))
"""The two tools of the server beta are switched off, and alpha's takes their calls."""


@pytest.mark.parametrize(
    ("rule", "becomes", "other"),
    [
        ("mcp__beta__send_mail", ["mcp__alpha__send_mail"], "Bash(ls:*)"),
        ("mcp__beta__post", ["mcp__alpha__send_mail"], "mcp__ga_mma__send_mail"),
        ("Mcp(beta:send_mail)", ["Mcp(alpha:send_mail)"], "Mcp(alpha:*)"),
    ],
)
def test_a_rule_for_a_tool_that_is_off_becomes_one_for_the_tool_that_stays(rule, becomes, other):
    settings = {"theme": "dark", "permissions": {"allow": [other, rule, 7], "deny": [rule]}}
    after = settings_after(PLAN, settings)
    assert [(one.list, one.rule, list(one.becomes)) for one in after.idle] == [
        ("allow", rule, becomes),
        ("deny", rule, []),
    ]
    permissions = after.settings["permissions"]
    assert permissions["allow"] == [other, *becomes, 7] and after.settings["theme"] == "dark"
    assert rule in permissions["deny"], "the export denies it by itself"
    assert "ask" not in permissions


def test_rules_of_other_servers_and_of_tools_that_stay_are_left_alone():
    rules = ["mcp__alpha", "mcp__beta__*", "mcp__other__send_mail", "mcp__*__send_mail"]
    stays = settings_after(PLAN, {"permissions": {"ask": rules}})
    assert stays.idle == () and stays.settings["permissions"]["ask"] == rules
    assert settings_after(PLAN, {"permissions": {}}) is settings_after(PLAN, {}) is None


def test_servers_that_a_configuration_calls_otherwise_are_named():
    assert missing_servers(PLAN, ["alpha", "ga_mma"]) == ("beta",)
