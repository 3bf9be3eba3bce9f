"""Random sequences of everything that people do, by two of them in two programs on one store, while
new versions of the catalog come in (RELIABILITY 59).
"""

import itertools
from dataclasses import replace

import pytest
from hypothesis import Phase
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.support.fakes import WordEmbedder
from tests.support.properties import examples
from tests.support.scripted import judge_says
from tests.ui.services.family_catalog import BANKS, RECIPES, pairs
from tests.ui.services.small_workspace import MAIL, SUM, WEATHER, catalog, on
from toolscope_core.decisions.decision_lines import decisions_in
from toolscope_core.decisions.forms import ACTIONS, ONE_ACCOUNT, OWN_ACCOUNTS
from toolscope_core.decisions.log import active, admit, version_of, with_dependents
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.configuration import MergeThresholds, PlanConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import DecisionError, StaleDecisionError
from toolscope_core.model.profile import Profile
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.profiles.intent_cover import with_choice
from ui.catalog import listing_panel
from ui.documents import namespace_panel
from ui.export import loading_panel
from ui.history import histories
from ui.overlap import threshold_panel
from ui.profiles import profile_edits
from ui.shared.services import review, reviewed_variants, server_advice, toolsets
from ui.shared.services.versions import standing_decisions
from ui.shared.services.workspace import Workspace

MAILS = tuple(on(server, MAIL) for server in ("alpha", "beta", "gamma"))
WEATHERS = tuple(on(server, WEATHER) for server in ("alpha", "beta"))
TOOLS = (*MAILS, *WEATHERS, SUM, *BANKS, *RECIPES)
NEW = Tool("delta/post_letter", "post_letter", "Post a letter to somebody.", "delta")
EVERYTHING = PlanConfig(accept="all", gateway=True)
REVIEWERS = ("ann", "bob")
names = itertools.count()

OF_ONE = "omit flag edit owner augment load namespace profile".split()
"""What is said of one tool."""
PLACES = st.integers(0, len(TOOLS) - 1)
TEXTS = st.sampled_from(["one", "two"])
ACCOUNTS = st.sampled_from([ONE_ACCOUNT, OWN_ACCOUNTS, None])
WHO = st.sampled_from([0, 1])
ANY = st.integers(0, 10_000)
"""Which of those that are there."""


class Office(RuleBasedStateMachine):
    """Two reviewers; ``programs`` are theirs, and share nothing but the store."""

    def __init__(self, programs):
        super().__init__()
        self.programs = programs
        self.name = f"Office {next(names)}"
        self.remembered = []
        self.take_version(TOOLS)

    # What they see

    @property
    def log(self):
        return self.programs[0].snapshot(self.id).log

    @property
    def tools(self):
        return self.programs[0].snapshot(self.id).catalog.by_id

    def ids(self, places):
        ids = sorted(self.tools)
        return list(dict.fromkeys(ids[place % len(ids)] for place in places))

    def take_version(self, tools):
        self.id = self.programs[0].catalogs.add(self.name, catalog(*tools)).id
        for program in self.programs:
            program.analyses.run(self.id)

    def refused(self, action):
        """Do it; whether it was refused, which must leave the log as it was."""
        before = self.log
        try:
            action()
        except DecisionError:
            assert self.log == before, "what is refused writes nothing"
            return True
        assert self.log[: len(before)] == before, "no row is lost or changed"
        return False

    # Cards

    @rule(who=WHO, which=ANY, action=st.sampled_from(["accept", "keep_apart", "family"]))
    def decide(self, who, which, action):
        show = "families" if action == "family" else "all"
        if queue := review.queue(self.programs[who].snapshot(self.id), show=show):
            card = queue[which % len(queue)]
            decided = "accept" if action == "family" else action
            self.refused(
                lambda: review.decide(
                    self.programs[who].snapshot(self.id), decided, card, REVIEWERS[who]
                )
            )

    @rule(who=WHO, which=ANY, cut=st.integers(1, 3))
    def recut(self, who, which, cut):
        large = [
            card
            for card in review.queue(self.programs[who].snapshot(self.id))
            if len(card.members) > 2
        ]
        if large:
            card = large[which % len(large)]
            at = min(cut, len(card.members) - 1)
            groups = [card.members[:at], card.members[at:]]
            self.refused(
                lambda: review.recut(
                    self.programs[who].snapshot(self.id), card, REVIEWERS[who], groups
                )
            )

    @rule(who=WHO, which=ANY, text=TEXTS, canonical=st.booleans())
    def edit(self, who, which, text, canonical):
        if clusters := self.programs[who].snapshot(self.id).plan.clusters:
            card = clusters[which % len(clusters)]
            action = "canonical" if canonical else "edit"
            detail = {"canonical": card.members[-1]} if canonical else {"description": text}
            self.refused(
                lambda: review.decide(
                    self.programs[who].snapshot(self.id), action, card, REVIEWERS[who], detail
                )
            )

    @rule(who=WHO, which=ANY)
    def look_and_wait(self, who, which):
        """Leave a card open while others go on."""
        if clusters := self.programs[who].snapshot(self.id).plan.clusters:
            self.remembered.append(clusters[which % len(clusters)])

    @rule(who=WHO, which=ANY, action=st.sampled_from(["accept", "keep_apart"]))
    def decide_on_what_was_seen_then(self, who, which, action):
        if not self.remembered:
            return
        card = self.remembered[which % len(self.remembered)]
        if not set(card.members) <= set(self.tools):
            return
        members = [self.tools[one].fingerprint for one in card.members]
        before = self.log
        fresh = version_of(members, before) == card.version
        try:
            row = review.decide(self.programs[who].snapshot(self.id), action, card, REVIEWERS[who])
        except DecisionError as refusal:
            assert isinstance(refusal, StaleDecisionError) is not fresh and self.log == before
        else:
            assert fresh or row in before, "only a double click is no conflict"

    # Tools

    @rule(who=WHO, places=st.lists(PLACES, min_size=2, max_size=3), apart=st.booleans())
    def say_of_several(self, who, places, apart):
        ids = self.ids(places)
        say = toolsets.never_merge if apart else toolsets.send_to_review
        if len(ids) > 1:
            version = toolsets.version(self.programs[who].snapshot(self.id), ids)
            now = self.programs[who].snapshot(self.id)
            self.refused(lambda: say(now, ids, version, REVIEWERS[who]))

    @rule(who=WHO, place=PLACES, text=TEXTS, action=st.sampled_from(OF_ONE))
    def say_of_one(self, who, place, text, action):
        program, reviewer, ids = self.programs[who], REVIEWERS[who], self.ids([place])
        card = review.tool_as_cluster(program.snapshot(self.id), ids[0])
        variant, server = {ids[0]: Augmentation(text)}, self.tools[ids[0]].server
        words = {"description": text}
        say = {
            "omit": lambda: toolsets.leave_out(program.snapshot(self.id), ids, reviewer, text),
            "flag": lambda: toolsets.flag(program.snapshot(self.id), ids, reviewer, text),
            "owner": lambda: listing_panel.change(program.snapshot(self.id), ids, text, reviewer),
            "augment": lambda: reviewed_variants.decide(
                program.snapshot(self.id), variant, reviewer
            ),
            "load": lambda: loading_panel.decide(
                program.snapshot(self.id), ids, text == "one", reviewer
            ),
            "namespace": lambda: namespace_panel.describe(
                program.snapshot(self.id), server, text, reviewer
            ),
            "profile": lambda: self.profile(program, ids, reviewer),
            "edit": lambda: review.decide(program.snapshot(self.id), "edit", card, reviewer, words),
        }[action]
        self.refused(say)

    def profile(self, program, ids, reviewer):
        standing = {
            name: one.profile
            for name, one in profile_edits.tools_by_profile(program.snapshot(self.id)).items()
        }
        before = standing.get("desk", Profile("desk"))
        changed = with_choice(program.snapshot(self.id).plan, before, ids, is_in=True)
        profile_edits.save(program.snapshot(self.id), changed, reviewer)

    @rule(who=WHO, similarity=st.sampled_from([0.5, 0.9, 0.99]))
    def threshold(self, who, similarity):
        chosen = MergeThresholds(similarity, min(similarity, 0.9))
        threshold_panel.apply_thresholds(
            self.programs[who].snapshot(self.id), chosen, REVIEWERS[who]
        )

    @rule(who=WHO, places=st.tuples(PLACES, PLACES), answer=ACCOUNTS)
    def account(self, who, places, answer):
        owners = [self.tools[tool_id].owner for tool_id in self.ids(places)]
        say, now = server_advice.answer_account, self.programs[who].snapshot(self.id)
        self.refused(lambda: say(now, owners[0], owners[-1], answer, REVIEWERS[who]))

    # Back and forth

    @rule(who=WHO, which=ANY, whole=st.booleans())
    def undo(self, who, which, whole):
        if standing := active(self.log):
            seqs = [standing[which % len(standing)].seq]
            if whole:
                seqs = [one.seq for one in with_dependents(self.log, seqs)]
            was_refused = self.refused(
                lambda: review.undo_all(self.programs[who].snapshot(self.id), REVIEWERS[who], seqs)
            )
            assert not (whole and was_refused), "with all that builds on it, it can be taken back"

    @rule(who=WHO, which=ANY)
    def redo(self, who, which):
        log = self.log
        standing = active(log)
        if gone := [one for one in log if one.action != "undo" and one not in standing]:
            one = gone[which % len(gone)]
            self.refused(
                lambda: histories.make_again(
                    self.programs[who].snapshot(self.id), one, REVIEWERS[who]
                )
            )

    @rule(who=WHO, back=st.booleans())
    def decide_at_once(self, who, back):
        program = self.programs[who]
        rows = [("accept", card, {}) for card in review.queue(program.snapshot(self.id))[:3]]
        made, _ = review.decide_each(program.snapshot(self.id), REVIEWERS[who], rows)
        if back and made:
            before, seqs = self.log, [one.seq for one in made]
            review.undo_all(program.snapshot(self.id), REVIEWERS[who], seqs)
            assert active(self.log) == tuple(o for o in active(before) if o.seq not in seqs)

    @rule(who=WHO, which=ANY)
    def restore(self, who, which):
        if not (log := self.log):
            return
        seq, last, reviewer = which % (len(log) + 1), log[-1].seq, REVIEWERS[who]
        then = histories.plan_at(self.programs[who].snapshot(self.id), seq)
        if not self.refused(
            lambda: histories.restore(self.programs[who].snapshot(self.id), seq, reviewer, last)
        ):
            now = histories.plan_at(self.programs[who].snapshot(self.id), self.log[-1].seq)
            assert now.phi == then.phi
            assert [one.tool for one in now.tools] == [one.tool for one in then.tools]
        with pytest.raises(StaleDecisionError):
            histories.restore(self.programs[who].snapshot(self.id), 0, reviewer, last - 1)

    @rule(who=WHO, which=ANY, text=TEXTS)
    def note(self, who, which, text):
        program = self.programs[who]
        if rows := [one for one in self.log if one.action != "undo"]:
            before = program.snapshot(self.id).plan
            one = rows[which % len(rows)]
            histories.note(program.snapshot(self.id), one, text, REVIEWERS[who])
            assert program.snapshot(self.id).plan.phi == before.phi

    # New versions

    @rule(place=PLACES, change=st.sampled_from(["reworded", "back", "gone", "new", "moved"]))
    def new_version(self, place, change):
        tools = dict(self.tools)
        (one,) = self.ids([place])
        original = {tool.id: tool for tool in TOOLS}
        if change == "reworded":
            tools[one] = replace(tools[one], description=f"{tools[one].description} Now faster.")
        elif change == "back":
            tools |= original
        elif change == "gone" and len(tools) > 6:
            del tools[one]
        elif change == "new":
            tools[NEW.id] = NEW
        elif change == "moved":
            tools[f"{one}-2"] = replace(tools.pop(one), id=f"{one}-2")
        before, log, old = self.settled(), self.log, self.tools
        self.take_version(tools.values())
        held, now = ([replace(one, ids=()) for one in rows] for rows in (log, self.log))
        assert now == held, "decisions belong to the name, and follow a tool that moved"
        unchanged = {one for one, tool in self.tools.items() if old.get(one) == tool}
        queue = review.queue(self.programs[0].snapshot(self.id))
        waiting = {card.members for card in queue if not card.newcomers}
        asked = {members for members in waiting & before if unchanged.issuperset(members)}
        assert not asked, "nothing is asked twice"

    def settled(self):
        """Members of accepted clusters without newcomers."""
        clusters = self.programs[0].snapshot(self.id).plan.clusters
        return {one.members for one in clusters if one.state == "accepted" and not one.newcomers}

    # What always holds

    @invariant()
    def the_log_is_the_state(self):
        ours, theirs = (program.snapshot(self.id) for program in self.programs)
        log, analysis, file = ours.log, ours.analysis, histories.file(theirs)
        replayed = decisions_in(analysis.catalog, file, "decisions.jsonl")
        assert replayed == log == theirs.log, "both see the same"
        plan = ours.plan_under(EVERYTHING)
        assert plan == theirs.plan_under(EVERYTHING)
        assert plan == plan_merge(analysis, replayed, EVERYTHING), "replay(log) = state"
        check_phi(plan)
        check_rejections(plan, log)
        check_waiting(ours.plan, standing_decisions(analysis.catalog, log).wait)

    def teardown(self):
        """Undo of everything is the start."""
        program = self.programs[1]
        standing = [one.seq for one in active(self.log)]
        review.undo_all(program.snapshot(self.id), "bob", standing)
        analysis = program.snapshot(self.id).analysis
        assert program.snapshot(self.id).plan_under(EVERYTHING) == plan_merge(
            analysis, (), EVERYTHING
        )
        assert all(admitted(self.log))


def check_phi(plan):
    """φ is total, onto and idempotent, and the outgoing tools divide those that stay."""
    phi, left = plan.phi, {item.tool.id for item in plan.tools}
    assert phi.keys() == plan.catalog.by_id.keys() and len(plan.relabels) == len(phi)
    images = {new for new in phi.values() if new is not None}
    assert images == left, "onto"
    assert all(phi[new] == new for new in images), "idempotent"
    members = [one for item in plan.tools for one in item.members]
    assert sorted(members) == sorted(old for old, new in phi.items() if new), "a partition"


def check_rejections(plan, log):
    """No two tools that people keep apart become one, as long as both are what they were."""
    phi, tools = plan.phi, plan.catalog.by_id
    for item in active(log):
        named = zip(item.ids, item.fingerprints, strict=True)
        if item.action == "keep_apart" and all(
            one in tools and tools[one].fingerprint == member for one, member in named
        ):
            images = [phi[one] for one in item.ids if phi[one] is not None]
            assert len(images) == len(set(images))


def check_waiting(plan, waiting):
    """What was accepted of tools of which one has changed is no longer merged."""
    accepted = [set(one.members) for one in plan.clusters if one.state == "accepted"]
    for item in waiting:
        if item.action == "accept":
            assert not any(set(item.ids) <= members for members in accepted)


def admitted(log):
    """Whether each row may stand where it does, by the rules of today."""
    for place, row in enumerate(log):
        if row.action == "undo":
            yield admit(log[:place], replace(row, seq=0, fingerprints=(), ids=())) == row


@pytest.fixture
def programs(store_url, monkeypatch, tmp_path):
    monkeypatch.setenv("TOOLSCOPE_STORE_URL", store_url)
    monkeypatch.setenv("TOOLSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    same = dict.fromkeys((*pairs(MAILS), *pairs(WEATHERS), *pairs(RECIPES)), 0.97)
    judge_says(monkeypatch, same, dict.fromkeys(pairs(BANKS), 0.8))
    programs = [Workspace(read_environment(), WordEmbedder()) for _ in REVIEWERS]
    yield programs
    for program in programs:
        program.close()


def test_one_of_everything(programs):
    """Each action once, so that it is known to be among what is tried."""
    office = Office(programs)
    office.recut(0, 0, 1)
    office.decide(0, 0, "keep_apart")
    office.decide(1, 0, "family")
    office.look_and_wait(0, 0)
    for place, action in enumerate(OF_ONE):
        office.say_of_one(1, place, "one", action)
    office.decide_on_what_was_seen_then(0, 0, "accept")
    office.say_of_several(0, [5, 10], apart=False)
    office.say_of_several(0, [5, 6], apart=True)
    office.edit(0, 0, "two", canonical=True)
    office.threshold(1, 0.9)
    office.account(0, [0, 1], ONE_ACCOUNT)
    office.undo(0, 0, whole=True)
    office.redo(1, 0)
    office.note(0, 0, "one")
    office.new_version(0, "reworded")
    office.decide_at_once(0, back=False)
    office.restore(1, 5)
    office.the_log_is_the_state()
    made = {one.action for one in office.log}
    assert made == set(ACTIONS) - {"split", "drop", "compare"}, "no button makes these"
    office.teardown()


@pytest.mark.case(59)
@pytest.mark.hypothesis
def test_whatever_two_reviewers_do_the_log_is_the_state_and_all_of_it_can_be_taken_back(programs):
    """What fails is printed as it was tried: to make it shorter would take many minutes."""
    tried = examples(5, stateful_step_count=12, phases=[Phase.generate])
    run_state_machine_as_test(lambda: Office(programs), settings=tried)
