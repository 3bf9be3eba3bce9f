"""What words of tool names and descriptions mean to the judge: stems, actions, opposites.

General English comes from ``wordnet``; the lists here say what tools say and it does not.
"""

from __future__ import annotations

import re
from functools import lru_cache

import Stemmer

from toolscope_core.merging.wordnet import are_opposite, is_word

_WORD = re.compile(r"[a-z]+|\d+|[^\W\d_a-z]+")
_LETTERS = re.compile(r"[^\W\d_]+")

_CLASSES = {
    "reads": """get fetch retrieve obtain view show display read describe query acquire access
        inquire provide return see collect gather lookup info details detail list enumerate
        browse search find locate discover explore seek identify filter select choose inquiry
        retrieval finder viewer check monitor track watch load verify validate confirm test
        ensure audit verification validation inspect""",
    "computes": """calculate compute estimate calc calculator calculation measure count solve
        determine predict forecast simulate analyze analyse assess evaluate examine study
        investigate diagnose analysis evaluation compare comparison recommend suggest advise
        recommendation recommender suggestion extract summarize classify detect recognize
        categorize estimation prediction convert translate transform format parse encode decode
        converter conversion translation""",
    "creates": """create add make insert register build define establish setup compose draft
        append generate produce construct initialize upsert put design develop plan schedule
        arrange prepare write set creation generation generator upload import restore copy""",
    "sends": """send notify post publish share message email deliver forward remind alert
        broadcast reply invite transmit report notification submit""",
    "orders": """book reserve booking reservation rent hire order buy purchase pay checkout payment
        subscribe transfer deposit""",
    "starts": """start open enable activate launch play begin resume trigger login authenticate
        signin""",
    "joins": "join connect attach link bind assign associate merge combine authorize grant",
    "updates": """update modify edit change set adjust rename patch alter configure customize
        replace revise correct reschedule improve optimize manage put upsert move migrate""",
    "deletes": """delete remove clear destroy drop erase purge discard unregister wipe deletion
        leave disconnect detach unlink unbind unassign dissociate""",
    "cancels": "cancel revoke abort withdraw undo cancellation",
    "sells": "sell",
    "stops": "stop close disable deactivate terminate end pause shut kill quit logout signout",
    "exports": "download export save backup",
    "protects": "lock encrypt hide block protect",
    "releases": "unlock decrypt unhide unblock",
}
"""Verbs by what they do; WordNet has no such kinds: *get* and *read* share no sense there."""

_ALSO_NOUNS = frozenset(
    """list order filter report message alert track plan schedule test view display detail
    details info email share link block format access measure count change return play start
    end lock set post draft design query rent save copy see watch lead book import export merge
    patch study put drop kill load open backup move hide check search research transfer deposit
    comparison payment notification transform bind make calc""".split()
)
_LEAD = frozenset("list search check find export import".split())
STOP_WORDS = frozenset(
    """a an the this that these those it its such any either of for from to in on at by
    with into via about over within through as and or if so than then there here when where what
    which who whose whom how is are be been being was were has have had do does did done doing can
    could may might will would shall should must you your yours we our they them their he she his
    her i me my one two s t e g i etc whether""".split()
)
"""Words that say nothing by themselves; *not*, *without*, *all*, *before*, *last* do."""

_FILLER = frozenset(
    """tool tools function functions functionality api service method operation allow allows enable
    enables provided given specific specified certain particular desired respective various
    corresponding according based using use uses used useful via optional optionally currently
    available detail details detailed info information data simple simply easy easily quick quickly
    help helps please just also user users want wants need needs able run execute perform performs
    conduct carry handle handles retrieved fetched obtained returned input include includes
    including system platform one two another related""".split()
)
"""What descriptions add without telling one tool from another."""

_NAME_FILLER = frozenset(
    """a an the of for to from in on at by with into via and or is are be as using tool function api
    info information data detail details perform""".split()
)
"""The same in names, where each word is chosen."""

_EMPTY = STOP_WORDS | frozenset(
    """use using used uses no not all given based specific specified certain such including includes
    include other tool function api service allows allow enables provided optional new currently
    between per some various operation only destructive functionality method""".split()
)
"""What the judge's signals leave out."""

_SAME = (
    "get fetch retrieve obtain acquire lookup look view show display see give provide load pull"
    " access query inquire inquiry",
    "list get fetch retrieve view show display provide",
    "read get fetch retrieve view show load",
    "search find lookup locate discover browse seek query",
    "create make generate build new",
    "create make add",
    "update modify edit change alter revise existing",
    "delete remove erase drop existing",
    "calculate compute determine calc calculator calculation computation",
    "check verify validate confirm",
    "book reserve reservation booking",
    "current live realtime latest present",
    "analyze analyse analysis",
    "sms text",
    "text textual",
    "tv television",
    "website site",
    "start begin initiate",
    "recommend suggest recommendation suggestion",
    "recent latest newest",
    "auth authentication authenticate login signin",
    "repo repository",
    "url link uri",
    "id identifier uuid",
    "config configuration",
    "doc document documentation",
    "db database",
    "msg message",
    "img image photo picture pic",
    "org organization organisation",
    "app application",
    "param parameter",
    "max maximum",
    "min minimum",
    "temp temperature",
    "avg average",
    "stats statistics statistic stat",
    "admin administrator",
    "env environment",
    "dir directory folder",
    "email mail",
    "phone telephone",
)
"""Words that tools use for each other and WordNet does not; a word may stand in several lines."""

_OPPOSITES = """encrypt/decrypt encode/decode compress/decompress login/logout max/min
    maximum/minimum mean/median mean/mode area/perimeter area/volume read/write get/set
    send/receive join/leave book/cancel before/after income/expense revenue/cost profit/loss
    latitude/longitude approve/reject accept/decline accept/reject pause/resume grant/revoke
    undo/redo copy/move copy/rename move/rename arrival/departure landing/departure import/export
    upload/download back/forward previous/next input/output inbound/outbound""".split()
_NEGATING = ("un", "de", "dis", "non", "in")
_BORDERS = frozenset(
    """of for from to in on at by with and or using based given within via between into through
    per including that which about over under as when if during along against""".split()
)
_ENGLISH = STOP_WORDS | frozenset("get list create update delete name user file data".split())
_FOREIGN = frozenset(
    """de el la los las un una unos unas del al y o para por con como que su sus está son
    le les des du et ou pour avec dans sur qui est une aux ce cette
    der die das den dem ein eine einen einer und oder für mit von zu im ist wird nach über
    il lo gli dei della delle nel con per che di da sono
    os uma um ao aos com não em dos das pelo pela
    het een van voor met naar op te zijn och för med till av som att på i og
    w z na do dla jest oraz się ve bir için ile bu dan yang untuk dengan dari di ke""".split()
)


def words_of(text: str) -> list[str]:
    """The words and numbers of a text, lower case, in order."""
    return _WORD.findall(text.lower())


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The word without its endings, by Snowball's English stemmer."""
    return str(_SNOWBALL.stemWord(word))


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """The word for one of what a plural speaks of; itself where it is none."""
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    forms = _without_ending(word, _PLURAL, 2)
    return forms[0] if forms else word


@lru_cache(maxsize=65_536)
def base_forms(word: str) -> tuple[str, ...]:
    """The word and the English words it may come from: *notes* → note, *analysis* → analyze."""
    forms = [word]
    for rules, shortest in ((_INFLECTED, 2), (_DERIVED, 3)):
        for form in tuple(forms):
            forms += _without_ending(form, rules, shortest)
    return tuple(dict.fromkeys(forms))


@lru_cache(maxsize=65_536)
def groups_of(word: str) -> frozenset[int]:
    """The lines of our list of words that tools use for each other, by number."""
    forms = set(base_forms(word))
    return frozenset(row for row, group in enumerate(_GROUPS) if forms & group)


def is_empty(word: str) -> bool:
    """Whether the word says nothing about what a tool does."""
    return word in _EMPTY


def only_gets(word: str) -> bool:
    """Whether the word says no more than that something is got."""
    return not groups_of(word).isdisjoint(_GETTING)


def is_filler(word: str, named: bool = False) -> bool:
    """Whether the word, of a description or in a name (``named``), tells no tool from another."""
    return word in (_NAME_FILLER if named else STOP_WORDS | _FILLER)


def is_foreign(text: str) -> bool:
    """Whether a text is plainly not English, the language of the labelled pairs.

    Most of its letters are of another script, or it has two or more small words of another
    language, more than twice those of English.
    """
    letters = [char for char in text if char.isalpha()]
    if sum(not char.isascii() for char in letters) * 2 > len(letters):
        return True
    words = [word.lower() for word in _LETTERS.findall(text)]
    foreign = sum(word in _FOREIGN for word in words)
    return foreign >= 2 and foreign > 2 * sum(word in _ENGLISH for word in words)


def is_border(word: str) -> bool:
    """Whether the word ends the noun phrase before it: ``of``, ``by``, ``using``."""
    return word in _BORDERS


@lru_cache(maxsize=65_536)
def action_classes(word: str) -> frozenset[str]:
    """What a verb does (``reads``, ``creates``, …); several where it may be either, or none."""
    for form in _verb_forms(word):
        found = frozenset(name for name, verbs in _VERBS.items() if form in verbs)
        if found:
            return found
    return frozenset()


def is_plain_verb(word: str) -> bool:
    """Whether the word is an action and not also a common noun (``delete``; not ``order``)."""
    return bool(action_classes(word)) and not (_ALSO_NOUNS & set(_verb_forms(word)))


def leads(word: str) -> bool:
    """Whether the word is an action wherever something follows it: ``zz_list_alerts``."""
    return word in _LEAD


@lru_cache(maxsize=65_536)
def opposites(left: frozenset[str], right: frozenset[str]) -> tuple[str, str] | None:
    """The first two words (sorted) that mean the contrary, one on each side only; ``None`` if
    none.
    """
    for here in sorted(left - right):
        for there in sorted(right - left):
            if _are_contrary(here, there):
                return here, there
    return None


def _are_contrary(one: str, other: str) -> bool:
    if (one, other) in _CONTRARIES or are_opposite(one, other):
        return True
    short, long = sorted((one, other), key=len)
    if long.startswith("re") and are_opposite(long[2:], short):  # reopen, close
        return True
    return any(long == f"{prefix}{short}" for prefix in _NEGATING)


def _verb_forms(word: str) -> tuple[str, ...]:
    return word, *_without_ending(word, _INFLECTED, 3)


def _without_ending(word: str, rules: _Endings, shortest: int) -> list[str]:
    """The English words that come of taking an ending off, or another in its place."""
    bases = []
    for ending, others in rules:
        if not word.endswith(ending) or len(word) < len(ending) + shortest:
            continue
        root = word[: -len(ending)]
        if ending.endswith("s") and stem(word) == word:
            continue  # *gas*, *news*: the s is no ending
        bases += [
            root + other
            for other in others
            if _is_base(root + other, rules)
            and (other or ending != "es" or root.endswith(_HISSING))  # *notes* are no *not*
        ]
        if rules is _INFLECTED and root[-1] == root[-2] and is_word(root[:-1]):
            bases.append(root[:-1])
    return bases


def _is_base(word: str, rules: _Endings) -> bool:
    """Whether a word may be what another is made of; of a noun only a verb we know: a *version* is
    of no *verse*, a *portion* of no *port*.
    """
    if rules is _DERIVED:
        return word in _ACTIONS
    return is_word(word) or word in _LISTED


_Endings = tuple[tuple[str, tuple[str, ...]], ...]
_HISSING = ("s", "x", "z", "ch", "sh", "o")
_PLURAL: _Endings = (("ies", ("y", "ie")), ("es", ("e", "")), ("s", ("",)))
_INFLECTED: _Endings = (
    *_PLURAL,
    ("ing", ("", "e")),
    ("ied", ("y",)),
    ("ed", ("e", "")),
)
_DERIVED: _Endings = (
    ("ification", ("ify",)),
    ("ization", ("ize",)),
    ("isation", ("ise", "ize")),
    ("ation", ("ate", "e", "", "ize")),
    ("ition", ("ize", "e", "", "ish")),
    ("ption", ("be", "pt")),
    ("ution", ("ute", "ve")),
    ("ction", ("ct", "ce")),
    ("ssion", ("ss", "t")),
    ("sion", ("d", "de", "t", "se")),
    ("tion", ("t", "te")),
    ("ion", ("", "e")),
    ("ysis", ("yze", "yse")),
    ("arison", ("are",)),
    ("ment", ("",)),
    ("al", ("e", "")),
    ("ary", ("arize",)),
)
"""Endings of nouns made of verbs, with what stands in their place in the verb."""

_SNOWBALL = Stemmer.Stemmer("english")
_VERBS = {name: frozenset(verbs.split()) for name, verbs in _CLASSES.items()}
_ACTIONS = frozenset().union(*_VERBS.values()) | frozenset("recognize transcribe".split())
_GROUPS = tuple(frozenset(group.split()) for group in _SAME)
_LISTED = frozenset().union(*_GROUPS)
_GETTING = frozenset(row for row, group in enumerate(_GROUPS) if "get" in group)
_CONTRARIES = frozenset(
    pair
    for one, _, other in (text.partition("/") for text in _OPPOSITES)
    for pair in ((one, other), (other, one))
)
