"""Whether somebody keeps the thing that a word is for, or whether it is the same everywhere.

The *task* of one owner is not the task of another; the *weather* is the same wherever it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolscope_core.judging.vocabulary import singular

_KEPT = frozenset(
    """task todo issue ticket project board card label comment tag event calendar contact team
    member user organization workspace account customer order invoice payment deal lead campaign
    note document file folder drive bucket object table database schema column row index collection
    branch commit pull merge repository repo release pipeline job build deployment service server
    instance container pod cluster namespace node volume secret variable workflow execution webhook
    integration channel message thread conversation chat email inbox draft playlist cart reservation
    booking incident alert monitor dashboard report space list record item entity memory asset
    device page block milestone epic sprint group role permission policy subscription product
    inventory bookmark feed post meeting""".split()
)
"""Nouns of what somebody keeps: the one of another owner is another one."""

_FACTS = frozenset(
    """weather forecast news price stock crypto cryptocurrency market quote rate web website url dns
    whois ip uuid hash time timezone date transcript video youtube paper arxiv wikipedia package npm
    documentation think thought random math number color qr regex word dictionary map geocode place
    route direction distance""".split()
)
"""Words of public facts and sums."""


_OF_THE_MACHINE = frozenset(
    """file directory folder path disk browser page tab screenshot url html website console dialog
    shell command terminal process clipboard window""".split()
)
"""Words of what a machine has once, whichever server reaches it."""


def keeps_things(words: Iterable[str]) -> bool:
    """Whether one of the words is for something that somebody keeps."""
    return not _KEPT.isdisjoint(map(singular, words))


def is_of_the_machine(words: Iterable[str]) -> bool:
    """Whether one of the words is for what a machine has once."""
    return not _OF_THE_MACHINE.isdisjoint(map(singular, words))


def is_of_facts(words: Iterable[str]) -> bool:
    """Whether one of the words is for public facts or sums, which nobody keeps."""
    return not _FACTS.isdisjoint(map(singular, words))
