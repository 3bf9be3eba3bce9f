"""The constraints that active decisions impose on the current catalog."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from toolscope_core.decisions.forms import ASKING_ACTIONS, BY_SEARCH, HOLDING, LINKING, ONE_ACCOUNT
from toolscope_core.decisions.log import Positions, active, links_of, united
from toolscope_core.decisions.profile_decisions import profile_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Action, Constraints, Decision, Edit
from toolscope_core.model.pair import Pair
from toolscope_core.model.profile import Profile
from toolscope_core.model.tool import Augmentation


def constraints(catalog: Catalog, log: Sequence[Decision]) -> Constraints:
    """The constraints that the active decisions impose on the tools of ``catalog``, by tool id.

    Members that left the catalog are ignored. If a member's fingerprint has changed, the decision
    does not join tools and keeps apart only the unchanged ones. Its members are stale until a later
    decision includes their new versions. A joined group that contains a pair to keep apart is in
    conflict and is not enforced. A pair stays proposed while both tools are unchanged and not kept
    apart. Omitted tools appear in none of these. The groups are sorted.
    """
    locate = ToolLocator(catalog, log)
    linking = [item for item in active(log) if item.action in LINKING]
    joined: list[tuple[str, ...]] = []
    stale: list[frozenset[str]] = []
    families: list[frozenset[str]] = []
    cannot: set[Pair] = set()
    doubtful: set[Pair] = set()
    for place, item in enumerate(linking):
        present, changed = locate(item)
        now = {
            i: present.get(i, old)
            for i, old in enumerate(item.ids)
            if i in present or old in changed
        }
        later = linking[place + 1 :]
        for group in links_of(item)[0]:
            ids = tuple(now[i] for i in group if i in now)
            if len(ids) > 1 and item.detail.get("relation") == "family":
                families.append(frozenset(ids))
            if changed.isdisjoint(ids):
                joined.append(ids)
            else:
                stale.append(frozenset(i for i in ids if not locate.are_decided_on((i,), later)))
        for i, j in links_of(item)[1]:
            if i in present and j in present:
                cannot.add(Pair.of(present[i], present[j]))
            elif i in now and j in now and not locate.are_decided_on((now[i], now[j]), later):
                doubtful.add(Pair.of(now[i], now[j]))
    home = united(joined)
    groups = {frozenset(group) for group in home.values() if len(group) > 1}
    conflicts = {frozenset(home[p.left]) for p in cannot if p.right in home.get(p.left, ())}
    compared = ((pair, item.detail) for pair, item in comparisons(catalog, log).items())
    return Constraints(
        must=tuple(sorted(groups - conflicts, key=sorted)),
        cannot=frozenset(cannot),
        stale=tuple(sorted({group for group in stale if len(group) > 1}, key=sorted)),
        doubtful=frozenset(doubtful),
        conflict=tuple(sorted(conflicts, key=sorted)),
        put_forward=frozenset(_put_forward(locate, log, ASKING_ACTIONS)) - cannot,
        for_a_person=frozenset(_put_forward(locate, log, HOLDING)) - cannot,
        families=tuple(sorted(set(families), key=sorted)),
        omitted=frozenset(locate.omitted),
        one_account=one_account(catalog, log),
        compared={
            pair: detail["verdict"] if detail["differing"] else ""
            for pair, detail in compared
            if detail["calls"] or detail["differing"]
        },
    )


def omitted(catalog: Catalog, log: Sequence[Decision]) -> dict[str, Decision]:
    """The decision that omitted each tool, by tool id.

    A tool that has changed since then is not omitted.
    """
    return dict(ToolLocator(catalog, log).omitted)


def owners(catalog: Catalog, log: Sequence[Decision]) -> dict[str, str]:
    """The implied server that people last assigned to each tool, by tool id; empty for no
    server.
    """
    return {
        tool_id: str(item.detail["owner"]).strip()
        for item, _, tool_id in _on_tools(catalog, log, "owner")
    }


def one_account(catalog: Catalog, log: Sequence[Decision]) -> dict[frozenset[str], bool]:
    """For pairs of servers, whether people said that both work on the same account.

    The answer that counts is the last one for which each server still has an unchanged tool.
    """
    servers: dict[int, set[str]] = {}
    answers: dict[int, bool] = {}
    for item, _, tool_id in _on_tools(catalog, log, "account"):
        servers.setdefault(item.seq, set()).add(catalog.by_id[tool_id].owner)
        answers[item.seq] = item.detail["account"] == ONE_ACCOUNT
    return {frozenset(two): answers[seq] for seq, two in servers.items() if len(two) == 2}


def comparisons(catalog: Catalog, log: Sequence[Decision]) -> dict[Pair, Decision]:
    """The last comparison of the calls of each pair, as long as both tools and the versions of
    their servers are unchanged; unknown versions count as unchanged.
    """
    locate = ToolLocator(catalog, log)
    versions = {server.name: server.version for server in catalog.servers}
    latest = {}
    for item in active(log):
        present = locate(item)[0] if item.action == "compare" else {}
        if len(present) == 2:
            recorded = item.detail.get("versions") or ("", "")
            now = [versions.get(catalog.by_id[present[at]].server, "") for at in (0, 1)]
            is_same = all(not (a and b) or a == b for a, b in zip(recorded, now, strict=True))
            if is_same:
                latest[Pair.of(*present.values())] = item
    return dict(sorted(latest.items()))


def variants(catalog: Catalog, log: Sequence[Decision]) -> dict[str, Augmentation]:
    """The document variant that people last gave each tool, by tool id; empty if they want no
    variant.

    A changed tool has no variant.
    """
    latest: dict[str, Augmentation] = {}
    for item, place, tool_id in _on_tools(catalog, log, "augment"):
        variant = item.detail["variants"][place]
        latest[tool_id] = Augmentation(variant["expanded"], tuple(variant["questions"]))
    return latest


def deferrals(catalog: Catalog, log: Sequence[Decision]) -> dict[str, bool]:
    """Whether people last left a tool to the search of clients, by tool id."""
    return {
        tool_id: item.detail["loading"] == BY_SEARCH
        for item, _, tool_id in _on_tools(catalog, log, "load")
    }


def namespace_descriptions(catalog: Catalog, log: Sequence[Decision]) -> dict[str, str]:
    """The description that people last gave each server's namespace, by server.

    A description counts as long as a tool of the server is unchanged. Empty descriptions are left
    out.
    """
    latest = {
        catalog.by_id[tool_id].server: item.detail["description"].strip()
        for item, _, tool_id in _on_tools(catalog, log, "namespace")
    }
    return {server: text for server, text in latest.items() if server and text}


def flags(catalog: Catalog, log: Sequence[Decision]) -> dict[str, tuple[Decision, ...]]:
    """The active flags on each tool, by tool id, oldest first; a changed tool has no flags."""
    active_flags: dict[str, tuple[Decision, ...]] = {}
    for item, _, tool_id in _on_tools(catalog, log, "flag"):
        active_flags[tool_id] = (*active_flags.get(tool_id, ()), item)
    return active_flags


def edits(catalog: Catalog, log: Sequence[Decision]) -> dict[frozenset[str], Edit]:
    """The latest canonical choice and document edit for each edited set of members.

    A choice that was part of an accepted merge counts too. Later edits override single fields.
    Members that left the catalog are removed from the set. A changed member suspends an edit, but
    not the canonical choice, which nobody withdrew.
    """
    locate = ToolLocator(catalog, log)
    edits_of: dict[frozenset[str], Edit] = {}
    for item in active(log):
        present, changed = locate(item)
        keeps_one = item.action == "accept" and "canonical" in item.detail
        is_edit = item.action in ("edit", "canonical") and not changed
        all_places = present | {at: old for at, old in enumerate(item.ids) if old in changed}
        if item.action == "canonical" and changed:  # a later choice than the one that was kept
            edits_of.pop(frozenset(all_places.values()), None)
        if not (keeps_one or is_edit) or not present:
            continue
        for places in (present, all_places) if keeps_one else (present,):
            key = frozenset(places.values())
            edit = edits_of.get(key, Edit())
            if item.action == "edit":
                edit = replace(edit, document={**edit.document, **item.detail})
            else:
                position = item.fingerprints.index(item.detail["canonical"])
                kind = item.detail.get("kind", edit.kind)
                edit = replace(edit, canonical=places.get(position), kind=kind)
            edits_of[key] = edit
    return edits_of


def profiles(catalog: Catalog, log: Sequence[Decision]) -> dict[str, Profile]:
    """The current profiles as last saved, by name and sorted, with the tool ids of ``catalog``."""
    locate = ToolLocator(catalog, log)
    latest = {item.detail["profile"]: item for item in active(log) if item.action == "profile"}
    active_profiles = {}
    for name, item in sorted(latest.items()):
        if item.detail.get("deleted") is not True:
            present, changed = locate.in_catalog(item)
            active_profiles[name] = profile_of(item, present, frozenset(changed))
    return active_profiles


def suspended_decisions(catalog: Catalog, log: Sequence[Decision]) -> frozenset[int]:
    """The ``seq`` of each active decision with a member that has changed in this catalog."""
    locate = ToolLocator(catalog, log)
    return frozenset(item.seq for item in active(log) if locate(item)[1])


def _on_tools(
    catalog: Catalog, log: Sequence[Decision], action: Action
) -> Iterator[tuple[Decision, int, str]]:
    """Each active decision with this action and each of its unchanged tools, as position and id."""
    locate = ToolLocator(catalog, log)
    for item in active(log):
        if item.action == action:
            for place, tool_id in locate(item)[0].items():
                yield item, place, tool_id


def _put_forward(
    locate: "ToolLocator", log: Sequence[Decision], actions: Collection[Action]
) -> Iterator[Pair]:
    """The pairs that a person wants to see proposed, through one of ``actions``.

    A recut proposes the pairs that stay together, because the judge might divide them. A recut
    family proposes none, because any two of its tools must be one operation anyway.
    """
    for item in active(log):
        if item.action not in actions:
            continue
        if item.action == "propose":
            groups: list[Positions] = [tuple(range(len(item.fingerprints)))]
        elif item.detail.get("relation") != "family":
            groups = item.places(item.detail["groups"])
        else:
            continue
        present, _ = locate(item)
        for group in groups:
            ids = (present[i] for i in group if i in present)
            yield from (Pair.of(a, b) for a, b in combinations(ids, 2))


class ToolLocator:
    """Finds the tools of one catalog that are members of decisions in a log."""

    def __init__(self, catalog: Catalog, log: Sequence[Decision]) -> None:
        self._by_id = catalog.by_id
        self._owners: dict[str, list[str]] = {}
        members = {member for decision in log for member in decision.fingerprints}
        tools = [tool for tool in catalog.tools if tool.fingerprint in members] if members else []
        for tool in sorted(tools, key=lambda tool: tool.id):
            self._owners.setdefault(tool.fingerprint, []).append(tool.id)
        self.omitted = {
            tool_id: item
            for item in active(log)
            if item.action == "omit"
            for tool_id in self.in_catalog(item)[0].values()
        }

    def __call__(self, decision: Decision) -> tuple[dict[int, str], set[str]]:
        """Tool ids by position in ``fingerprints``, and the ids of changed members.

        Omitted tools are left out.
        """
        present, changed = self.in_catalog(decision)
        remaining = {at: tool_id for at, tool_id in present.items() if tool_id not in self.omitted}
        return remaining, changed - self.omitted.keys()

    def in_catalog(self, decision: Decision) -> tuple[dict[int, str], set[str]]:
        """Like calling the locator, but with omitted tools.

        Among tools with one fingerprint, the tool with the recorded id comes first.
        """
        members = enumerate(zip(decision.fingerprints, decision.ids, strict=True))
        present = {i: old for i, (member, old) in members if old in self._owners.get(member, ())}
        if len(present) == len(decision.fingerprints):
            return present, set()
        used_ids = set(present.values())
        for i, member in enumerate(decision.fingerprints):
            free = (tool_id for tool_id in self._owners.get(member, ()) if tool_id not in used_ids)
            if i not in present and (tool_id := next(free, None)) is not None:
                present[i] = tool_id
                used_ids.add(tool_id)
        absent_ids = {old for i, old in enumerate(decision.ids) if i not in present}
        return present, {old for old in absent_ids - used_ids if old in self._by_id}

    def are_decided_on(self, ids: Iterable[str], log: Iterable[Decision]) -> bool:
        """Whether one of the decisions names all of these tools in their current versions."""
        prints = {self._by_id[tool_id].fingerprint for tool_id in ids}
        return any(prints <= set(item.fingerprints) for item in log)
