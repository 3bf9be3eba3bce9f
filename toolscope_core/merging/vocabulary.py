"""What words of tool names and descriptions mean to the judge: stems, actions, opposites."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

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
        arrange prepare write set creation generation generator submit book reserve booking
        reservation rent hire order buy purchase pay checkout payment subscribe send notify post
        publish share message email deliver forward remind alert broadcast reply invite transmit
        report notification start open enable activate launch play begin resume trigger join
        connect attach link bind assign associate merge combine upload import restore login
        authenticate authorize signin transfer move migrate copy deposit""",
    "updates": """update modify edit change set adjust rename patch alter configure customize
        replace revise correct reschedule improve optimize manage put upsert""",
    "deletes": """delete remove clear destroy drop erase purge discard unregister wipe deletion
        leave disconnect detach unlink unbind unassign dissociate""",
    "cancels": "cancel revoke abort withdraw undo cancellation",
    "sells": "sell",
    "stops": "stop close disable deactivate terminate end pause shut kill quit logout signout",
    "exports": "download export save backup",
    "protects": "lock encrypt hide block protect",
    "releases": "unlock decrypt unhide unblock",
}
_ALSO_NOUNS = frozenset(
    """list order filter report message alert track plan schedule test view display detail
    details info email share link block format access measure count change return play start
    end lock set post draft design query rent save copy see watch lead book import export merge
    patch study put drop kill load open backup move hide check search research transfer deposit
    comparison payment notification transform bind make calc""".split()
)
_LEAD = frozenset("list search check find export import".split())
_SHORT_PLURALS = {"ids": "id"}
_EMPTY = frozenset(
    """a an the of for from to in on at by with and or is are be as this that these those it its
    into via using use used uses which will can may if not no all any given based specific
    specified certain such including includes include other their your our tool function api
    service allows allow enables provided optional new currently within between about over
    per each one some various when where what how who s e g i etc operation only destructive
    functionality method""".split()
)
_BORDERS = frozenset(
    """of for from to in on at by with and or using based given within via between into through
    per including that which about over under as when if during along against""".split()
)
_OPPOSITES = """open/close start/stop enable/disable activate/deactivate buy/sell encrypt/decrypt
    encode/decode upload/download import/export login/logout lock/unlock block/unblock
    increase/decrease maximum/minimum max/min add/remove create/delete create/update
    update/delete add/delete add/update follow/unfollow subscribe/unsubscribe deposit/withdraw
    mean/median mean/mode area/perimeter area/volume area/circumference read/write get/set
    get/update get/delete get/create list/create list/delete list/update search/create
    search/delete search/update send/receive mount/unmount connect/disconnect attach/detach
    assign/unassign push/pull show/hide join/leave borrow/lend book/cancel on/off up/down
    before/after sunrise/sunset income/expense revenue/cost profit/loss latitude/longitude
    compress/decompress install/uninstall approve/reject accept/decline accept/reject
    arrival/departure win/lose birth/death link/unlink pause/resume grant/revoke undo/redo
    archive/unarchive copy/move copy/rename move/rename check/select check/book confirm/select
    set/change activate/complete enable/complete landing/departure trend/prediction""".split()
_KINDS = (
    "circle triangle square rectangle sphere cylinder cube cone ellipse trapezoid polygon pyramid",
    "area perimeter volume circumference diameter hypotenuse",
    "velocity distance displacement acceleration force energy momentum pressure density voltage "
    "resistance entropy temperature",
    "mean median mode variance deviation correlation regression covariance percentile",
    "flight train bus taxi ship hotel restaurant cinema theater museum concert subway",
    "stock bond cryptocurrency crypto bitcoin fund forex commodity gold mortgage",
    "current historical forecast future history",
    "user customer employee patient student teacher doctor team organization supplier",
    "image video audio photo song movie book game recipe news podcast article",
    "pdf excel csv json xml html markdown",
    "email sms call tweet comment",
    "issue commit branch repository release workflow build pipeline job container",
    "soccer basketball football tennis cricket baseball hockey golf chess",
    "daily weekly monthly yearly hourly annual",
    "humidity wind temperature precipitation rain snow",
    "derivative integral factorial logarithm gcd lcm",
    "departure arrival landing takeoff stop",
    "alarm reminder calendar timer event meeting appointment",
    "account card transaction loan deposit balance payment refund",
    "table column row cell sheet chart",
    "label milestone tag category",
    "project task sprint board epic",
    "server network cluster node host volume",
    "key secret token password certificate",
    "phone address",
    "cat dog bird fish",
    "price rating review availability",
    "lawsuit patent contract trademark",
    "revenue profit expense income dividend asset liability equity",
    "protein gene dna rna cell",
    "apartment house car",
)
_ENGLISH = _EMPTY | frozenset("get list create update delete name user file data".split())
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


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The word without its plural ending."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return _SHORT_PLURALS.get(word, word)


def is_empty(word: str) -> bool:
    """Whether the word says nothing about what a tool does."""
    return word in _EMPTY


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


@lru_cache(maxsize=65536)
def action_classes(word: str) -> frozenset[str]:
    """What a verb does (``reads``, ``creates``, …); several where it may be either, or none."""
    for form in _base_forms(word):
        found = frozenset(name for name, verbs in _VERBS.items() if form in verbs)
        if found:
            return found
    return frozenset()


def is_plain_verb(word: str) -> bool:
    """Whether the word is an action and not also a common noun (``delete``; not ``order``)."""
    return bool(action_classes(word)) and not (_ALSO_NOUNS & set(_base_forms(word)))


def leads(word: str) -> bool:
    """Whether the word is an action wherever something follows it: ``zz_list_alerts``."""
    return word in _LEAD


@lru_cache(maxsize=65536)
def opposites(left: frozenset[str], right: frozenset[str]) -> tuple[str, str] | None:
    """The first two words that mean the contrary, one on each side only; ``None`` if none."""
    for one, other in _CONTRARIES if left and right else ():
        for here, there in ((one, other), (other, one)):
            if here in left and there in right and there not in left and here not in right:
                return here, there
    return None


@lru_cache(maxsize=65536)
def siblings(left: frozenset[str], right: frozenset[str]) -> tuple[str, str] | None:
    """The first two words that name different things of one kind (``circle``, ``triangle``),
    each on one side only; ``None`` if none.
    """
    for here in sorted(left - right):
        for there in sorted(right - left):
            if _KIND_OF[here] & _KIND_OF[there]:
                return here, there
    return None


def kind_words(words: Iterable[str]) -> frozenset[str]:
    """Those of the words (stems) that name one of several things of a kind."""
    return frozenset(word for word in words if word in _KIND_OF)


def contrary_words(words: frozenset[str]) -> frozenset[str]:
    """Those of the words that have an opposite."""
    return words & _CONTRARY_WORDS


def _base_forms(word: str) -> tuple[str, ...]:
    forms = [word, stem(word)]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            root = word[: -len(ending)]
            forms += [root, root + "e"]
            if root[-1] == root[-2]:
                forms.append(root[:-1])
    return tuple(forms)


_VERBS = {name: frozenset(verbs.split()) for name, verbs in _CLASSES.items()}
_CONTRARIES = tuple((one, other) for one, _, other in (p.partition("/") for p in _OPPOSITES))
_CONTRARY_WORDS = frozenset(word for pair in _CONTRARIES for word in pair)
_KIND_OF: dict[str, set[int]] = {}
for _row, _kind in enumerate(_KINDS):
    for _word in _kind.split():
        _KIND_OF.setdefault(_word, set()).add(_row)
