"""The table of actions that people decide, and the groups that rules speak of."""

from collections.abc import Mapping
from dataclasses import dataclass

from toolscope_core.model.decision import Action


@dataclass(frozen=True, slots=True)
class ActionRule:
    """One row of the table of actions: ``done`` is its name in the history, ``addresses`` are the
    tools it names, ``implies`` is what it asks of every later merge, ``undo`` what takes it back.
    ``merge --decisions`` replays every one of them.
    """

    done: str
    addresses: str
    implies: str
    undo: str = "undo, as long as no later decision builds on it"


ACTIONS: Mapping[Action, ActionRule] = {
    "accept": ActionRule(
        "Accepted",
        "two tools or more",
        "They are one tool, of the relation that was shown, and keep the member that was.",
    ),
    "reject": ActionRule("Kept apart", "two tools or more", "No two of them are ever merged."),
    "recut": ActionRule(
        "Taken apart, nothing accepted",
        "two tools or more, in groups",
        "No two of different groups are merged; each group of two or more waits as a proposal.",
    ),
    "split": ActionRule(
        "Split, parts of two or more accepted",
        "two tools or more, in groups",
        "Each group of two or more is one tool; no two of different groups are merged. No button "
        "makes it any more.",
    ),
    "drop": ActionRule(
        "Kept out, the others accepted",
        "two tools or more, some of them dropped",
        "The others are one tool, with which the dropped are never merged. Keeps newcomers out of "
        "an accepted merge.",
    ),
    "propose": ActionRule(
        "Sent to review",
        "two tools or more",
        "They are on one card that waits for a person; no accept policy takes it.",
    ),
    "canonical": ActionRule(
        "Canonical chosen",
        "the members of a merge",
        "The one named gives the merged tool its id and name. It may choose the kind too: *prune* "
        "(drop-in) switches the others off although they may keep data of their own, *router* "
        "(needs a gateway) keeps all reachable.",
    ),
    "edit": ActionRule(
        "Document edited",
        "the members of a merge, or one tool",
        "Agents read this name, description or schema.",
    ),
    "omit": ActionRule(
        "Left out",
        "one tool or more",
        "They leave the toolset: `removed` in `relabel.json`, in no merge; the others of a merge "
        "stay together.",
    ),
    "owner": ActionRule(
        "Implied server changed",
        "one tool or more",
        "They count as tools of the server named, or of none; ids, names and fingerprints stay.",
    ),
    "account": ActionRule(
        "Account of two servers",
        "the tools of two servers",
        "The two work on one account or backend, or each on its own: merges between them switch "
        "tools off, or keep all reachable, unless the kind of one was chosen.",
    ),
    "augment": ActionRule(
        "Document variants reviewed",
        "one tool or more",
        "Searches read the variant of each beside its own text; where it is empty, none that is "
        "offered.",
    ),
    "load": ActionRule(
        "Loading chosen",
        "one tool or more",
        "Clients that search for tools have them in every prompt, or see them only once a search "
        "returns them.",
    ),
    "namespace": ActionRule(
        "Namespace described",
        "the tools of a server",
        "A model that searches by namespace reads this of the server; nothing where it is empty: "
        "then it reads what the server says, else what its tools are called.",
    ),
    "flag": ActionRule(
        "Flagged",
        "one tool or more",
        "Nothing: it keeps a note for whoever looks at them next, and lists them.",
    ),
    "note": ActionRule(
        "Note on a decision",
        "another decision, and with it its tools",
        "Nothing: it keeps why that decision was made, for whoever reads the history.",
    ),
    "profile": ActionRule(
        "Profile changed",
        "the tools that it has then, and those that were kept out by hand",
        "Agents with this profile get these tools, and what its rules take in; the last one of a "
        "name counts, and one that says *deleted* ends it.",
    ),
    "threshold": ActionRule(
        "Threshold applied",
        "the catalog",
        "Pairs of less similarity or probability are not proposed; the last one standing counts.",
    ),
    "undo": ActionRule(
        "Taken back",
        "another decision, by its number",
        "That decision holds no longer; its row stays.",
        "none: decide again",
    ),
}
"""The table of actions that a person can decide."""

ONE_ACCOUNT, OWN_ACCOUNTS = "one account", "each its own"
"""What people say of the account of two servers."""

IN_EVERY_PROMPT, BY_SEARCH = "in every prompt", "by search"
"""How a client that searches for tools loads one."""

LINKING: tuple[Action, ...] = ("accept", "reject", "recut", "split", "drop")
"""The actions that keep tools together or apart."""

JOINING: tuple[Action, ...] = ("accept", "split", "drop")
"""Those that put tools together."""

WITH_RELATION: tuple[Action, ...] = (*JOINING, "recut")
"""Those whose detail holds the relation of the cluster on the screen."""

ON_SEVERAL: tuple[Action, ...] = (*LINKING, "propose")
"""The actions on two tools or more; *propose* and *recut* leave a card to decide on."""

HOLDING: tuple[Action, ...] = ("propose",)
"""Those that keep what they propose for a person."""

ASKING: tuple[Action, ...] = (*HOLDING, "recut")
"""Those that ask for a proposal, whatever the judge says."""

BESIDE_MERGES: tuple[Action, ...] = (
    "account",
    "augment",
    "load",
    "namespace",
    "flag",
    "note",
    "profile",
)
"""The actions that join and part no tools: what is decided on merges neither builds on them nor
waits.
"""
