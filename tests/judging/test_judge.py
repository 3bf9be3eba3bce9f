"""The offline judge on tools of our own: symmetric, deterministic, careful, able to explain."""

import json
import math
import sys
from dataclasses import replace
from itertools import combinations, pairwise
from subprocess import run

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.merging.strategies import tools as merging_tools
from tests.support.catalogs import example_catalog
from toolscope_core.judging import judge as judge_module
from toolscope_core.judging import weights as weights_module
from toolscope_core.judging.arguments.matching import match_parameters
from toolscope_core.judging.explanation import ToolComparison, explain
from toolscope_core.judging.judge import OfflineJudge, general_tools
from toolscope_core.judging.signals import COUNTS, SIGNALS
from toolscope_core.judging.weights import MODELS, Weights, shipped_weights
from toolscope_core.model.tool import Tool
from toolscope_core.wording.reading import read_tool
from toolscope_core.wording.vocabulary import is_foreign


def tool(tool_id, name, description, *parameters, required=(), server="", declared=True):
    schema = {
        "type": "object",
        "properties": {p: {"type": "string"} for p in parameters},
        "required": list(required),
    }
    return Tool(tool_id, name, description, server, schema if declared else None)


RATE = "Get the exchange rate between two currencies."
TOOLS = (
    tool("a", "get_exchange_rate", RATE, "source", "target", required=("source", "target")),
    tool("b", "fetch_exchange_rate", "Fetch the exchange rate of two currencies.", "src", "target"),
    tool("c", "delete_exchange_rate", "Delete the exchange rate of two currencies.", "source"),
    tool("d", "encrypt_file", "Encrypt a file with a password.", "path", "password"),
    tool("e", "decrypt_file", "Decrypt a file with a password.", "path", "password"),
    tool("f", "get_exchange_rate", RATE, "source", "target", required=("source", "target")),
    tool("g", "get_exchange_rate", RATE, declared=False),
    tool("h", "get_exchange_rate", " ", "source", "target"),
    tool("i", "plan_hike", "Plan a hike in the mountains.", "region", "days", required=("days",)),
    tool("j", "now", "Tell the time."),
    tool("k", "clock", "The time as text."),
    tool("l", "area_circle", "Compute the area.", "radius", "unit"),
    tool("m", "area_square", "Compute the area.", "side", "unit"),
    tool("o", "find_events", "Find events.", "start_time", "end_time"),
    tool("p", "search_events", "Search events.", "event_time"),
    tool("n", "hole_kurs", "Holt den Kurs für zwei Währungen.", "von", "nach"),
)
ROW = {t.id: at for at, t in enumerate(TOOLS)}


def embed(tools):
    """A vector per tool from the letters' trigrams of name and description: similar texts close."""
    vectors = np.zeros((len(tools), 256), dtype=np.float32)
    for at, one in enumerate(tools):
        text = f"{one.name} {one.description}".lower()
        for start in range(len(text) - 2):
            vectors[at, sum(map(ord, text[start : start + 3])) % 256] += 1.0
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def judged(tools=TOOLS):
    return OfflineJudge.of(tools, embed(tools))


def probability(left, right, tools=TOOLS):
    rows = {t.id: at for at, t in enumerate(tools)}
    probabilities = judged(tools).probabilities(np.array([rows[left]]), np.array([rows[right]]))
    return float(probabilities[0])


def evidence(left, right, tools=TOOLS):
    rows = {t.id: at for at, t in enumerate(tools)}
    return " ".join(judged(tools).verdict(rows[left], rows[right]).evidence)


def test_copies_are_alike_whatever_is_boilerplate_on_their_servers():
    vectors = embed(TOOLS)
    vectors[ROW["f"]] = vectors[ROW["d"]]
    verdict = OfflineJudge.of(TOOLS, vectors).verdict(ROW["a"], ROW["f"])
    assert verdict.similarity == 1.0


def test_the_same_job_in_other_words_is_a_merge_and_another_job_is_not():
    weights = shipped_weights()
    renamed = replace(TOOLS[1], description=RATE.replace("Get", "Fetch"), schema=TOOLS[0].schema)
    assert weights.outcome(probability("a", "b", (TOOLS[0], renamed))) == "merge"
    assert weights.outcome(probability("a", "i")) == "keep"


def test_opposite_verbs_lower_the_probability():
    same = probability("a", "b")
    assert probability("a", "c") < same / 2
    renamed = (*TOOLS[:4], replace(TOOLS[3], id="e2", name="encrypt_files"))
    assert probability("d", "e") < probability("d", "e2", renamed) / 2


def test_exact_copies_are_certain_even_across_servers_and_undeclared():
    assert probability("a", "f") == 1.0
    twins = (TOOLS[6], replace(TOOLS[6], id="g2", server="other"), TOOLS[0])
    assert probability("g", "g2", twins) == 1.0
    assert "Exact copies" in evidence("g", "g2", twins)


def test_equal_words_for_two_products_are_no_copies():
    query = tool("q", "query", "Run a query.", "sql", required=("sql",), server="postgres")
    of_mysql = replace(query, id="q2", server="mysql")
    assert probability("q", "q2", (query, of_mysql)) < 1.0
    assert "different products" in evidence("q", "q2", (query, of_mysql))
    assert probability("q", "q2", (query, replace(of_mysql, server="postgres-2"))) == 1.0


@pytest.mark.parametrize("other", ["g", "h"])
def test_a_tool_that_says_too_little_is_never_a_merge(other):
    verdict = judged().verdict(ROW["a"], ROW[other])
    assert verdict.outcome == "unsure"
    assert verdict.same_job < shipped_weights().merge_at
    assert "a person must check" in " ".join(verdict.evidence)


def test_tools_of_one_server_need_more_to_be_merged():
    def on(first, second):
        pair = (replace(TOOLS[0], server=first), replace(TOOLS[1], server=second))
        return probability("a", "b", pair)

    assert on("bank", "bank") < on("", "") == on("", "bank")
    assert on("bank", "bank") < on("bank", "exchange")


@pytest.mark.case(77)
def test_a_pair_is_the_same_whatever_else_the_catalog_holds():
    """Alone and among other servers: every number and sentence."""
    catalog = example_catalog()
    rng, servers = np.random.default_rng(7), sorted({tool.server for tool in catalog.tools})
    rows = rng.normal(size=(len(catalog.tools), 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    vectors = {tool.id: row for tool, row in zip(catalog.tools, rows, strict=True)}
    pairs = list(combinations(catalog.tools, 2))
    for at in rng.integers(0, len(pairs), 40).tolist():
        one, other = pairs[at]
        shown = {one.server, other.server, *rng.choice(servers, 2).tolist()}
        verdicts = []
        for servers_in_catalog in (servers, [one.server, other.server], shown):
            tools = [tool for tool in catalog.tools if tool.server in servers_in_catalog]
            judge = OfflineJudge.of(tools, np.array([vectors[tool.id] for tool in tools]))
            place = {tool.id: row for row, tool in enumerate(tools)}
            verdicts.append(judge.verdict(place[one.id], place[other.id]))
        assert verdicts[0] == verdicts[1] == verdicts[2]


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), max_size=12))
def test_judging_is_symmetric_deterministic_and_independent_of_the_batch(pairs):
    left, right = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    here, there = judged(), judged()
    probabilities = here.probabilities(left, right)
    assert probabilities.shape == (len(pairs),)
    assert np.array_equal(probabilities, there.probabilities(right, left))
    rows = range(len(left))
    alone = [here.probabilities(left[at : at + 1], right[at : at + 1])[0] for at in rows]
    assert probabilities.tolist() == alone
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert np.array_equal(probabilities, probabilities.round(6))


def test_pairs_are_judged_in_blocks_of_any_size(monkeypatch):
    left, right = (rows.ravel().astype(np.int32) for rows in np.indices((len(TOOLS), len(TOOLS))))
    whole = judged().probabilities(left, right)
    monkeypatch.setattr(judge_module, "_BLOCK", 7)
    assert np.array_equal(judged().probabilities(left, right), whole)


@pytest.mark.parametrize(
    ("left", "right", "sentences"),
    [
        (
            "a",
            "b",
            [
                "Their verbs mean much the same: “get” and “fetch”.",
                "Both say “exchange, rate, currency”.",
                "Only get_exchange_rate says “between”.",
                "Matching arguments: source ↔ src, target.",
            ],
        ),
        (
            "a",
            "c",
            [
                "Their actions differ: get_exchange_rate reads (“get”), "
                "delete_exchange_rate deletes (“delete”).",
                "Only get_exchange_rate takes target (required).",
            ],
        ),
        (
            "d",
            "e",
            [
                "opposites: encrypt and decrypt",
                "against merging: whether their names are opposites",
            ],
        ),
        (
            "a",
            "i",
            [
                "not very similar",
                "Only plan_hike says “plan, hike, mountains”.",
                "None of their arguments match.",
                "Only plan_hike takes region (optional), days (required).",
            ],
        ),
        ("a", "g", ["g does not declare its parameters"]),
        ("h", "i", ["get_exchange_rate has no description"]),
        ("l", "m", ["Only area_circle says “circle”.", "Only area_square says “square”."]),
        ("a", "g", ["Each tool's main words also occur in the other tool's text, in some form."]),
        ("n", "i", ["hole_kurs is not described in English"]),
        ("j", "k", ["Neither takes arguments."]),
        ("o", "p", ["Arguments that probably match: start_time ↔ event_time."]),
    ],
)
def test_the_evidence_says_what_agrees_and_what_differs(left, right, sentences):
    text = evidence(left, right)
    for sentence in sentences:
        assert sentence in text


def test_the_evidence_tells_servers_apart():
    def on(first, second):
        two = (replace(TOOLS[0], server=first), replace(TOOLS[1], server=second))
        return evidence("a", "b", two)

    assert "Both are on server x" in on("x", "x")
    assert "servers, x and y" in on("x", "y")
    assert "servers, no server and y" in on("", "y")
    assert "on server" not in on("", "")
    assert "different servers" not in on("", "")


def test_long_lists_are_cut_and_small_contributions_left_out():
    letters = {"xx": "vv", "yy": "ww"}
    many = [tool(n, n, "", *(f"{of}{at}" for at in range(9))) for n, of in letters.items()]
    compared = ToolComparison(
        tools=(many[0], many[1]),
        readings=(read_tool(many[0]), read_tool(many[1])),
        similarity=0.75,
        relation="related",
        serves="none",
        unshared=(tuple(f"x{at}" for at in range(9)), ()),
        matches=match_parameters(*many),
    )
    counted = dict.fromkeys(SIGNALS, 0.01) | {"closeness": 0.5, "most_name_words_apart": -0.2}
    sentences = explain(compared, counted)
    assert any(s.startswith("Only xx takes") and s.endswith("and 3 more.") for s in sentences)
    assert "Only xx says “x0, x1, x2, x3, x4, x5” and 3 more." in sentences
    assert "(0.75)" in sentences[1]
    most_for, most_against = sentences[-2:]
    assert COUNTS["closeness"] in most_for
    assert COUNTS["most_name_words_apart"] in most_against


def test_the_weights_are_readable_and_their_hash_is_the_name(tmp_path):
    shipped = weights_module._WEIGHTS
    content = json.loads(shipped.read_text("utf-8"))
    assert tuple(content["models"]) == MODELS
    assert all(tuple(model["signals"]) == SIGNALS for model in content["models"].values())
    weights = shipped_weights()
    assert 0.0 < weights.unsure_at < weights.merge_at <= weights.auto_at < 1.0
    assert weights.merge_at > 0.5 and 0.0 < weights.family_at < 1.0
    content["models"]["job_beside"]["intercept"] += 0.1
    changed = tmp_path / "weights.json"
    changed.write_text(json.dumps(content), "utf-8")
    assert Weights.read(changed).name != Weights.read(shipped).name
    assert Weights.read(shipped) == weights


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("Lists the files of a folder.", False),
        ("", False),
        ("Set Alarm Tool", False),
        ("Zeigt die Dateien in einem Ordner und ist schnell", True),
        ("Devuelve los archivos de la carpeta", True),
        ("Liste les fichiers du dossier pour un compte", True),
        ("列出文件夹中的文件", True),
        ("Список файлов (list files)", True),
        ("Café menu of the day in Zürich, naïve search", False),
        ("Searches for La Liga, El Clasico and Der Spiegel by name", False),
    ],
)
def test_another_language_is_known_by_its_letters_and_small_words(text, foreign):
    assert is_foreign(text) is foreign


@pytest.mark.parametrize(
    "text",
    ["Holt den Kurs für zwei Währungen von der Bank.", "获取两种货币的汇率。", "Курс двух валют."],
)
def test_names_and_arguments_show_one_job_whatever_the_language(text):
    foreign = replace(TOOLS[0], id="z", server="bank", description=text)
    other_job = replace(TOOLS[4], id="y", server="bank", description=text)
    tools = (replace(TOOLS[0], server="fx"), foreign, other_job)
    assert probability("a", "z", tools) > shipped_weights().merge_at
    assert probability("a", "y", tools) < shipped_weights().unsure_at


FAMILY_SIGNS = (
    ("same_verb", "shared_object", "one_word_apart", "other_products"),
    ("other_effect", "opposite_words", "shared_product", "no_product"),
)
SIGNS = {
    "job_beside": (
        ("closeness", "shared_arguments", "required_matched", "shared_product", "no_product"),
        ("other_effect", "opposite_words", "words_apart", "one_word_apart", "one_server"),
    ),
    "job_across": (
        ("same_verb", "shared_object", "required_matched", "shared_product", "no_product"),
        ("other_effect", "opposite_words", "most_name_words_apart", "other_products"),
    ),
    "family_beside": FAMILY_SIGNS,
    "family_across": FAMILY_SIGNS,
}


@pytest.mark.parametrize("model", MODELS)
def test_weights_have_the_sign_their_signals_mean(model):
    raises, lowers = SIGNS[model]
    weights = dict(zip(SIGNALS, getattr(shipped_weights(), model).weight, strict=True))
    assert {name: weights[name] > 0 for name in raises} == dict.fromkeys(raises, True)
    assert {name: weights[name] < 0 for name in lowers} == dict.fromkeys(lowers, True)


@given(
    st.lists(merging_tools(), min_size=1, max_size=3),
    st.lists(st.sampled_from(["", "x", "y"]), min_size=17, max_size=17),
    st.permutations(range(17)),
)
def test_the_shares_of_a_pair_add_up_to_its_probability(random, servers, order):
    drawn = [*TOOLS, *random][:17]
    drawn = [replace(t, id=f"{at}", server=servers[at]) for at, t in enumerate(drawn)]
    judge = OfflineJudge.of(drawn, embed(drawn))
    places = [at for at in order if at < len(drawn)]
    for left, right in pairwise(places):
        shares = judge.shares(left, right)
        assert shares == judge.shares(right, left)
        shown = 1.0 / (1.0 + math.exp(-sum(share.log_odds for share in shares)))
        assert shown == pytest.approx(judge.verdict(left, right).same_job, abs=1e-6)


def test_what_overrules_the_signals_is_a_share_of_its_own():
    def extra(left, right, tools=TOOLS):
        judge = OfflineJudge.of(tools, embed(tools))
        names = [share.name for share in judge.shares(ROW[left], ROW[right])]
        assert names[: len(SIGNALS) + 1] == ["starting value of every pair", *COUNTS.values()]
        return names[len(SIGNALS) + 1 :]

    assert extra("a", "b") == []
    assert extra("a", "f") == ["exact copies"]
    assert extra("a", "g") == ["held back for a person to review"]


def biased(**intercepts):
    """The shipped weights with models that start from other odds."""
    weights = shipped_weights()
    models = {
        name: replace(getattr(weights, name), intercept=odds) for name, odds in intercepts.items()
    }
    return replace(weights, **models)


def test_a_family_that_also_looks_like_one_job_is_no_merge():
    tools = TOOLS[11:13]  # circle, square
    judge = OfflineJudge.of(tools, embed(tools), biased(job_beside=9.0, family_beside=16.0))
    verdict = judge.verdict(0, 1)
    assert verdict.outcome == "family"
    assert "another shape: circle / square" in verdict.evidence[0]
    assert verdict.same_job < shipped_weights().merge_at
    assert judge.shares(0, 1)[-1].name.startswith("another provider or value")
    merged = OfflineJudge.of(tools, embed(tools), biased(job_beside=16.0, family_beside=9.0))
    assert merged.verdict(0, 1).outcome == "merge"
    assert merged.verdict(0, 1).family < shipped_weights().family_at


def test_what_removes_is_no_job_of_what_does_not():
    tools = (TOOLS[0], replace(TOOLS[2], id="z"))  # get, delete
    judge = OfflineJudge.of(tools, embed(tools), biased(job_beside=16.0, family_beside=-16.0))
    assert judge.verdict(0, 1).same_job < shipped_weights().merge_at
    assert judge.shares(0, 1)[-1].log_odds < 0.0


def verdict_of_one_job(*tools):
    """The verdict on two tools that the signals take for one job, and what overrules them last."""
    judge = OfflineJudge.of(tools, embed(tools), biased(job_beside=16.0, job_across=16.0))
    return judge.verdict(0, 1), judge.shares(0, 1)[-1].name


def test_a_distinction_makes_at_most_unsure_and_is_said():
    attic, cellar = (
        tool(key, "get_door", f"Get a door of the {key}.", f"{key}_id", required=[f"{key}_id"])
        for key in ("attic", "cellar")
    )
    verdict, overruled = verdict_of_one_job(attic, cellar)
    assert verdict.outcome == "unsure"
    assert overruled == "a fact that tells them apart"
    assert ": attic / cellar" in verdict.evidence[0]
    assert verdict.serves == "none"
    optional = replace(cellar, schema={"type": "object", "properties": cellar.schema["properties"]})
    assert verdict_of_one_job(attic, optional)[0].outcome == "merge"


def test_what_one_server_names_apart_is_at_most_unsure():
    def verdict(server):
        return verdict_of_one_job(
            tool("a", "get_rate", "Get the rate.", "source", server=server),
            tool("b", "get_team_rate", "Get the rate of a team.", "source", server="bank"),
        )[0]

    apart = "one server offers both under different names (– / team)."
    assert (verdict("bank").outcome, apart in verdict("bank").evidence[0]) == ("unsure", True)
    assert (verdict("shop").outcome, apart in verdict("shop").evidence[0]) == ("merge", False)


def test_tools_that_do_another_thing_are_no_family():
    tools = (
        tool("a", "hold_place", "Hold a place.", "place"),
        tool("b", "release_place", "Release a place.", "place"),
        tool("c", "hold_seat", "Hold a seat.", "place"),
    )
    judge = OfflineJudge.of(tools, embed(tools), biased(job_beside=-16.0, family_beside=16.0))
    assert judge.verdict(0, 1).outcome == "keep"
    assert judge.verdict(0, 2).outcome == "family"


@pytest.mark.case(79)
@pytest.mark.parametrize(
    ("one", "other", "outcome"),
    [
        ("tür_öffnen", "tür_schließen", "keep"), ("zamknij_drzwi", "otworz_drzwi", "keep"),
        ("启用账户", "禁用账户", "keep"), ("lukitse_ovi", "avaa_ovi", "keep"),
        ("wetter_monday", "wetter_friday", "family"), ("open_jira", "open_trello", "family"),
    ],
)  # fmt: skip
def test_actions_of_other_languages_are_no_family_and_values_are(one, other, outcome):
    tools = [tool(name, name, "X.", "id", server="s") for name in (one, other)]
    judge = OfflineJudge.of(tools, embed(tools), biased(job_beside=-16.0, family_beside=16.0))
    assert judge.verdict(0, 1).outcome == outcome


def test_two_servers_of_which_one_says_nothing_of_a_tool_make_no_family():
    def outcome(description, server):
        tools = (
            tool("a", "hold_place", "Hold a place.", "place", server="hall"),
            tool("b", "hold_place", description, "place", server=server),
        )
        judge = OfflineJudge.of(tools, embed(tools), biased(family_across=16.0, family_beside=16.0))
        return judge.verdict(0, 1).outcome

    assert outcome("Hold it.", "park") == "family"
    assert outcome(" ", "park") != "family"
    assert outcome(" ", "hall") == "family"


def test_two_servers_about_other_things_make_no_family_but_one_may():
    def outcome(server, odds=16.0):
        tools = (
            tool("a", "list_tables", "List the tables of a shop.", server="desk"),
            tool("b", "list_shops", "List all of them.", server=server),
        )
        judge = OfflineJudge.of(tools, embed(tools), biased(family_across=odds, family_beside=odds))
        return judge.verdict(0, 1).outcome

    assert outcome("hall") != "family"
    assert outcome("desk") == "family"


def test_two_things_of_one_server_are_a_family_only_if_that_is_likely():
    tools = (
        tool("a", "list_tables", "List the tables.", server="desk"),
        tool("b", "list_shops", "List the shops.", server="desk"),
    )
    base = OfflineJudge.of(tools, embed(tools), biased(job_beside=-16.0, family_beside=0.0))
    rows = np.array([0], np.int32), np.array([1], np.int32)
    own = base.weights.family_probability(base.signals.of_pairs(*rows), np.array([True]))[0]
    for likely, outcome in ((0.6, "keep"), (0.7, "family")):
        shift = math.log(likely / (1 - likely)) - math.log(own / (1 - own))
        judge = OfflineJudge.of(tools, embed(tools), biased(job_beside=-16.0, family_beside=shift))
        assert judge.verdict(0, 1).outcome == outcome


def test_outcomes_follow_the_thresholds():
    weights = shipped_weights()
    at = (weights.merge_at, weights.merge_at - 1e-6, weights.unsure_at, weights.unsure_at - 1e-6)
    assert [weights.outcome(p) for p in at] == ["merge", "unsure", "unsure", "keep"]
    assert [weights.outcome(p, weights.family_at) for p in at] == ["merge", *["family"] * 3]
    assert weights.outcome(0.0, weights.family_at - 1e-6) == "keep"


def test_an_empty_catalog_and_one_tool_can_be_prepared():
    for tools in ((), TOOLS[:1]):
        nothing = np.empty(0, dtype=np.int32)
        vectors = embed(tools) if tools else np.zeros((0, 0), dtype=np.float32)
        assert OfflineJudge.of(tools, vectors).probabilities(nothing, nothing).shape == (0,)


def test_a_merge_loads_no_large_library_before_it_needs_one():
    large = ("torch", "sklearn", "scipy", "faiss", "networkx")
    code = (
        "import sys; import toolscope_core.merging.analysing, toolscope_core.export.bundle; "
        f"sys.exit(any(m in sys.modules for m in {large}))"
    )
    assert run([sys.executable, "-c", code], check=False).returncode == 0


TEXT = {"type": "string"}


def served_tool(tool_id, name, description, required=(), server="s", **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(tool_id, name, description, server, schema)


LANGUAGES = {"type": "string", "enum": ["French", "German", "Latin"]}
GENERAL = served_tool(
    "t", "translate", "Translate a text.", ["text", "language"], text=TEXT, language=LANGUAGES
)
FRENCH = served_tool("f", "translate_to_french", "Put a text into French.", ["text"], text=TEXT)
GERMAN = served_tool("g", "translate_german", "A text, in German.", ["text"], text=TEXT)


def test_instances_of_a_general_tool_are_found_in_any_order():
    for tools in ([GENERAL, FRENCH, GERMAN], [GERMAN, FRENCH, GENERAL]):
        assert general_tools(tools) == {"f": "t", "g": "t"}


def test_another_server_another_value_or_a_lost_argument_is_no_instance():
    others = [
        served_tool("1", "translate_to_french", "x", ["text"], "elsewhere", text=TEXT),
        served_tool("2", "translate_to_welsh", "x", ["text"], text=TEXT),
        served_tool(
            "3", "translate_to_french", "x", ["text"], text=TEXT, formal={"type": "boolean"}
        ),
        served_tool("4", "speak_french", "x", ["text"], text=TEXT),
    ]
    assert general_tools([GENERAL, *others]) == {}


def test_a_family_is_judged_as_one_and_the_evidence_says_so():
    judge = judged((FRENCH, GERMAN, GENERAL))
    rows = np.array([0, 0, 1]), np.array([1, 2, 2])
    assert (judge.probabilities(*rows) >= 0.97).all()
    verdict = judge.verdict(0, 1)
    assert verdict.outcome == "merge"
    assert " of translate," in verdict.evidence[0]
    alone = judged((FRENCH, GERMAN))
    assert alone.probabilities(np.array([0]), np.array([1]))[0] < 0.97


def test_siblings_with_one_description_are_duplicates_only_if_their_names_agree():
    text = "Return the newest entry of the log."
    fetch = served_tool("a", "fetch_entry", text, log=TEXT)
    get = served_tool("b", "get_entry", text, log=TEXT)
    other = served_tool("c", "get_summary", text, log=TEXT)
    rephrased = served_tool("d", "get_entry", "Return the last entry in a log.", log=TEXT)
    judge = judged((fetch, get, other, rephrased))
    twins, apart, reworded = judge.probabilities(np.array([0, 0, 0]), np.array([1, 2, 3]))
    auto_at = shipped_weights().auto_at
    assert twins >= auto_at
    assert apart < auto_at
    assert reworded < twins
