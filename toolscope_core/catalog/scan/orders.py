"""Orders in a text: who is told to do what, and about what, in whatever words.

Each word becomes a letter for what it means: a negation, a verb of telling, the person who is
served, a secret. A rule is a short pattern of such letters, so other words of one meaning, and
words in between, make no difference. Of verbs a capital is an order (*send*) and a small letter
what somebody does (*sends*).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Literal

OrderKind = Literal["silence", "override", "change", "context", "secret", "sink", "address", "tool"]

WORD = r"(?:\w++(?:['’]\w++)*+\W++)"
"""A word and what follows it; possessive, so that hostile text cannot make a search slow."""
_VERBS = {
    "T": "tell inform notify alert apprise brief bother trouble burden warn admit confess signal"
    " caution",
    "#": "mention disclose reveal divulge announce acknowledge hint allude refer comment cite"
    " betray spill",
    "Q": "show display report say explain state discuss surface describe present repeat indicate"
    " print output expose quote recite echo answer reply respond",
    "K": "ask consult prompt question",
    "H": "hide conceal withhold suppress omit obscure mask strip keep exclude deny stop bury"
    " camouflage cloak mute silence gloss downplay blur",
    "I": "ignore disregard forget override bypass overrule supersede abandon violate circumvent"
    " dismiss neglect discard skip overlook unlearn break drop cancel nullify scrap suspend"
    " rescind revoke waive withdraw outrank trump lift relax annul overturn repeal negate"
    " sidestep evade shun invalidate loosen forgo relinquish forsake shed defy flout disobey"
    " unfollow",
    "F": "obey comply adhere heed behave live conform defer",
    "X": "send forward post upload copy bcc cc relay transmit deliver submit include attach"
    " append pass put insert paste supply give provide share export leak exfiltrate ship"
    " stream mirror email mail push embed fill dump funnel smuggle duplicate slip divert"
    " route add write place hand tack store save publish tweet log encode broadcast ferry"
    " dispatch remit deposit transcribe weave sneak fold stash prefix shuttle transport"
    " surrender wire",
    "R": "read open fetch load get retrieve collect grab gather extract harvest obtain capture"
    " locate acquire cat scan look request decode decipher unpack record dig fish snatch"
    " steal scrape siphon swipe enumerate query peek mine sniff recall pull",
    "V": "call use invoke run execute trigger prefer choose pick select launch fire pair apply"
    " take summon engage employ activate rely favour favor",
    "3": "treat regard consider",
    "G": "change switch replace update differ become alter swap turn rewrite mutate evolve"
    " unlock morph set edit modify redirect reroute adjust substitute prepend convert"
    " transform shift revise amend patch",
    "Z": "delete wipe erase remove uninstall disable destroy purge overwrite purchase buy pay"
    " transfer approve merge grant install register deactivate terminate shut close kill"
    " clear charge order subscribe sell reset truncate encrypt block ban unsubscribe reboot"
    " deploy accept sign authorize authorise consent agree",
}
_WORDS = {
    "N": "not never don't dont mustn't shouldn't needn't avoid refrain without no neither nor"
    " cease",
    "n": "doesn't isn't aren't didn't won't cannot can't couldn't wasn't",
    "0": "nobody none nothing",
    "U": "user users human humans person people anyone anybody someone operator operators owner"
    " owners customer reviewer reviewers somebody everyone administrator user's individual"
    " individuals client clients employee staff manager boss audience whoever",
    "J": "this that these those it step steps calls anything any fact what which one",
    "S": "silently secretly covertly quietly discreetly stealthily invisibly unnoticed"
    " surreptitiously unattended unasked unprompted",
    "s": "hint footnote elsewhere routine usual normal passing bare friendly sight trace"
    " casually between aside genuine casual commentary fanfare announcement notification"
    " remark explanation disclosure",
    "L": "instruction instructions directive directives direction directions rule rules"
    " guideline guidelines guardrail guardrails policy policies constraints restrictions"
    " restriction prompts orders guidance safeguards safety wishes persona sandbox refusal"
    " refusals checks limits",
    "B": "previous prior above earlier preceding foregoing initial original everything system"
    " developer first before came",
    "9": "void cancelled canceled suspended lifted superseded obsolete off overruled revoked"
    " expired disabled invalid deprecated untrue retired broken impostor unsafe fake dull"
    " dishonest bait withdrawn waived offline false compromised inaccurate unreliable moot"
    " null defunct malicious dangerous counterfeit rogue inferior outdated decommissioned"
    " unmaintained hacked forged",
    "C": "credentials passwords password passphrase credential cookie cookies secrets secret"
    " logins login pin pins passcode passcodes otp authorization passkey passkeys ssn cvv"
    " cvc iban jwt oauth 2fa mfa",
    "c": "token tokens key keys auth bearer",
    "$": "keychain keyring mnemonic clipboard keystore",
    "5": "ownprompt",
    "4": "conversation transcript chats chat inbox memory location contacts photos messages"
    " faces emails mails calendar browsing contact-list utterances",
    "M": "must should shall always ought required obliged need needs has have means mandatory"
    " compulsory obligatory expected bound supposed",
    "A": "you your yours you'll you're yourself",
    "e": "assistant assistants agent agents model models llm llms ai chatbot claude gpt"
    " orchestrator orchestrators planner copilot bot bots machines gemini callers readers",
    "a": "law regulation offence ceo executive ciso anthropic authorities licence court"
    " government mandated warrant police statute board cto cfo headquarters sysadmin"
    " superuser",
    "u": "urgent urgently lapses penalty criminal terminated deadline forfeited hurry asap",
    "W": "when whenever after if while each every time until upon following prior ahead"
    " whichever wherever",
    "w": "whatever",
    "%": "external remote outside attacker attackers unrelated abroad elsewhere offsite our us"
    " we partner partners telemetry analytics broker foreign undisclosed ours author second"
    " another other anywhere stranger unknown vendor's partner's supplier sponsor advertiser"
    " advertisers marketer offshore",
    "&": "browser environment disk config machine session cloud stored saved local home computer"
    " laptop vault drive shell",
    "E": "server endpoint webhook collector host domain url address archive service bucket relay"
    " proxy backend dashboard site website mailbox feed channel queue drive gist pastebin",
    "P": "parameter argument field property note metadata notes slot placeholder option flag tag"
    " label payload reason",
    "D": "itself",
    "d": "behaviour behavior description wording text words contents sentence listing entry"
    " blurb paragraph",
    "Y": "approval approved approve reviewed accepted acceptance installation"
    " installed trusted vetted audited post-approval allow sign-off onboarding onboarded"
    " whitelisted launched adopted shipped clicked",
    "y": "later week weeks day days march next today tomorrow then remotely fresh month months"
    " hours hour afterwards eventually someday soon midnight",
    "8": "permission consent confirmation authorisation authorization knowledge asking go-ahead"
    " assent okay prompts",
    "7": "reply answer summary response answers replies recap explanation",
    "1": "know knows learn notice realise realize suspect aware told informed discover hear"
    " known wonders learns knowing suspects catch spot wind wise",
    "2": "see sees seen",
    "<": "from",
    ">": "to at into",
    "=": "as",
    "b": "is are was were be been being am",
    "~": "of",
    "+": "also additionally and too plus meanwhile",
    "!": "unbeknownst unmentioned unreported impostor impersonates unrestricted",
    "l": "claim pretend lie feign refuse steer assure",
    "j": "instead rather over favour favor place precedence priority win wins binds prevail"
    " prevails outweigh outweighs trumps",
    "m": "invoices invoice card premium cart funds payment payments account bank",
}  # fmt: skip
_PHRASES = {
    "¤": r"(?:new|fresh|further|updated|later|real|next)\s+(?:\w+\s+)?(?:instructions?"
    r"|directives?|orders|directions"
    r"|wording|guidance|system\s+(?:prompt|message)|manual)|(?:your|the)\s+(?:next|real"
    r"|new)\s+task",
    "W": r"as\s+soon\s+as|each\s+time|every\s+time|in\s+case",
    "0": r"no\s+one|not\s+a\s+soul",
    "g": r"(?:does|do)\s+something\s+else|(?:behaves?|acts?|works?)\s+(?:differently|otherwise)"
    r"|takes?\s+(?:the|its)\s+place",
    "n": r"(?:does|did|is|are|was|were|has|will|can|would|could)\s+not",
    "9": r"comes?\s+second|ranks?\s+below|yields?\s+to|(?:no\s+longer|(?:do(?:es)?"
    r"|did)\s*(?:not|n['’]t))\s+(?:apply|applies|count|counts"
    r"|hold|holds|matter|matters|bind|valid|work|works)",
    "T": r"let(?:ting)?\s+(?:[\w.]+\s+){0,7}know|let\s+on\b|let\s+slip"
    r"|bring(?:ing)?\s+(?:(?:this|that|it)\s+)?up|bring\s+this\s+up",
    "H": r"leave\s+(?:\w+\s+){0,4}out(?=\W)",
    "I": r"set\s+(?:\w+\s+){0,3}?aside|pay\s+no\s+(?:attention|heed)",
    "X": r"hand(?:ing)?\s+(?:over|\w+\s+to\s+us)",
    "R": r"look\s+(?:into|in|up)",
    "%": r"third[\s-]part(?:y|ies)",
    "5": r"(?:your|the)\s+(?:(?:full|entire|complete|own)\s+)?(?:(?:hidden|initial|original)"
    r"\s+(?:\w+\s+)?|system\s+)(?:prompt|instructions?|message)"
    r"|your\s+(?:new\s+)?(?:prompt|system\s+\w+|configuration|persona)"
    r"|system\s+(?:prompt|message)",
    "4": r"(?:chat|conversation|dialogue|session|message)s?\s+(?:so\s+far|history|log)"
    r"|(?:earlier|previous|prior|other)\s+messages|(?:everything|all|what(?:ever)?)\s+(?:that\s+)?"
    r"the\s+user\s+(?:has\s+)?(?:typed|said|wrote|entered)",
    ".": r"(?:commit|error|log|status|warning)\s+messages?"
    r"|the\s+remote(?:\s+(?:repo(?:sitory)?|branch))?(?!\s+\w)",
    "$": r"(?:twelve|24|twenty-four)[\s-]word\s+(?:\w+\s+)?phrase|shell\s+history"
    r"|home\s+(?:folder|directory)"
    r"|credential\s+store|browser\s+profile|(?:private|ssh|signing)\s+keys?"
    r"|seed\s+(?:phrase|words)|key\s+files?"
    r"|password\s+(?:manager|store)|(?:session|browser)\s+cookies?",
    "C": r"one[\s-]time\s+(?:code|password)s?|(?:recovery|backup|verification)\s+(?:code|phrase)s?"
    r"|(?:card|account)\s+numbers?|bank\s+details|authorization\s+header|login\s+(?:data|details)",
    "c": r"(?:api|access|secret|auth)[\s-]keys?|(?:access|session|auth\w{0,20}|api)\s+tokens?"
    r"|environment\s+(?:variables?|secrets?)|env\s+vars?",
    "D": r"this\s+(?:(?:tool(?:['’]s)?|function(?:['’]s)?)\s+)?(?:tool|function|text"
    r"|description|server|note|paragraph)|(?:the|its|another)\s+(?:description|wording|tool|text)",
    "^": r"(?:(?:any|every|all|each|the)\s+)?other\s+(?:\w+\s+){0,2}(?:tools?|functions?|servers?)"
    r"|another\s+(?:tool|function|server)",
    "Y": r"(?:first|second|third|fourth|fifth|tenth)\s+(?:\w+\s+)?(?:calls?|uses?|runs?"
    r"|time|invocations?)"
    r"|people\s+rely",
    "!": r"(?:keep|stay|remain|be)\s+(?:quiet|silent|mum)\s+(?:about|on)|sa(?:y|ying)\s+"
    r"(?:nothing|a\s+word)|not\s+a\s+word|act\s+as\s+(?:if|though)\s+(?:nothing|no)|make\s+no\s+"
    r"(?:mention|note)|(?:keep|treat)\s+(?:\w+\s+){1,4}(?:secret|between\s+us)"
    r"|pretend(?:ing)?\s+(?:that\s+)?(?:nothing|it|no|the)|out\s+of\s+sight"
    r"|between\s+(?:us|ourselves|you\s+and\s+me)|behind\s+(?:\w+\s+){1,2}back|unbeknownst"
    r"|without\s+(?:comment|trace|notice|a\s+word)|go\s+(?:on|along)\s+(?:as|with)"
    r"|as\s+if\s+nothing",
    "@": r"from\s+(?:now|here|this\s+(?:point|moment))\s+on(?:wards?)?,?\s+(?:you|obey|comply"
    r"|follow|act|answer)|you\s+are\s+(?:now|no\s+longer)\s+(?:an?|the|in|bound|allowed|free)\b"
    r"|(?:developer|god|dan|admin)\s+mode\s+(?:is\s+)?(?:on|enabled|active)",
}
"""Letters of what takes several words."""

_STARTS = frozenset(
    "24 access account act acts admin all another any api are as auth authentication"
    " authorization backup bank be behave behaves behind between bring bringing browser can card"
    " chat claude come comes commit conversation could credential dan developer dialogue did do"
    " does each earlier end env environment error every everything fifth first fourth fresh from"
    " further go log status warning"
    " god hand handing has hidden home in is its keep key later leave let letting login look"
    " make message messages new next no not one one- other out password pay people pretend"
    " pretending previous prior private rank ranks real recovery remain safety say saying second"
    " secret seed session set setting shell signing ssh stay step system take takes tenth the"
    " third this time treat twelve twenty-four unbeknownst updated verification was were what"
    " whatever will without work works would yield yields you your".split()
)
"""The first words of phrases: a quick look that saves most."""
_PHRASE = re.compile(
    "|".join(f"(?P<p{number}>(?:{text})\\b)" for number, text in enumerate(_PHRASES.values())),
    re.IGNORECASE,
)
EXPLAINS = re.compile(
    r"\b(?:detect|flag|recogni[sz]|classif|identif|analy[sz]|block|explain|document|describ|warn|"
    r"report|scan|check|teach|protect|prevent|filter|guard|catch|reject|inspect)\w*\W+"
    + WORD
    + r"{0,6}?(?:prompts?|texts?|messages?|descriptions?|instructions?|requests?|tools?|attacks?|"
    r"injections?|jailbreaks?|attempts?|whether|how|what|when|leaked|repositories|phrases?)\b"
    r"|\b(?:sample|example|expected|mock|canned|training|dummy|illustrative|test)s?\W+"
    + WORD
    + r"{0,3}?(?:outputs?|responses?|answers?|texts?|repl(?:y|ies)|attacks?|prompts?|used)\b"
    r"|\b(?:such\W+as|e\.g\.|for\W+example|for\W+instance)\W|\battack(?:s|er|ers)?\b"
    r"|\b(?:like|say|says|write|writes)\W{0,2}[\"'“‘`]",
    re.IGNORECASE,
)
"""Words after which an order in the same sentence is only mentioned, not given."""
_CLAUSE = re.compile(
    r"(?<!e\.g)[.;!?]['\"”’)]?(?=\s|\Z)|\n|,\W+then\b|\b(?:also|and\W+then|instead)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\"[^\"\n]{3,200}\"|“[^”\n]{3,200}”|‘[^’\n]{3,200}’|(?<!\w)'[^'\n]{3,200}'(?!\w)"
)
_TOKEN = re.compile(
    r"(?P<word>[A-Za-z]++(?:['’](?!s\b)[a-z]++)?)(?![\w@./:'’-])"
    r"|(?P<link>https?://[^\s\"'<>]{1,300})"
    r"|(?P<place>(?:s3|ftp|gs)://[^\s\"'<>]{1,300}|[\w.+-]{1,64}@[\w-]{1,64}\.\w+"
    r"|\b[\w-]{2,40}(?:\.[\w-]{2,40}){0,3}\.(?:com|net|org|io|dev|example|app"
    r"|co)\b(?:/[\w./-]*)?)"
    r"|(?P<file>(?:~|\$HOME|/root|/home/\w{1,30}|/etc)/[\w./-]{1,200}|(?<!\w)\.(?:env"
    r"|netrc|npmrc|pypirc|pgpass|aws|ssh|kube|git-credentials|bash_history"
    r"|zsh_history)\b)"
    r"|(?P<name>\b[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,6}+\b"
    r"|\b[a-z]{2,30}[A-Z][A-Za-z0-9]{1,40}\b)"
    r"|(?P<other>\w+(?:['’](?!s\b)\w+)?)|(?P<mark>[,;:()])"
)
_SECRET_NAME = re.compile(r"(?:key|token|secret|password|rsa)$", re.IGNORECASE)
_DANGEROUS = frozenset(
    "drop delete remove destroy wipe purge run exec execute shell command transfer pay purchase"
    " approve merge commit push grant send password secret credential".split()
)
"""Parts of the names of tools that no other tool has to call."""
_LETTERS = tuple(_PHRASES)
_SENTENCE = re.compile(r"(?<!e\.g)(?<!i\.e)[.!?]+['\"”’)]?(?=\s|\Z)|\n(?=\s{0,40}(?:[^\sa-z]|\Z))")


@dataclass(frozen=True, slots=True)
class TextOrder:
    """An order in a text: its kind, its place. Nobody gives one that ``is_plain``
    in good faith; the others need a look.
    """

    kind: OrderKind
    start: int
    end: int
    is_plain: bool


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_Rules = tuple[tuple[OrderKind, re.Pattern[str]], ...]

_IS_MEANT = r"(?<![jNn0])(?<!j[.~])"
"""What stands before a word is no *rather than* or *never*."""
_PLAIN: _Rules = (
    (
        "silence",
        _any(
            r"N.{0,2}[T#].{0,7}[UJP45]",  # do not tell the user; never mention that
            r"[Tt].{0,1}0",  # tell nobody
            r"0.{0,2}M.{0,2}[12Tt]",  # nobody should be told
            r"N.{0,1}[KkQ].{0,2}U(?=$|[,;+<W]|.{0,2}8)",  # without asking the user
            r"N.{0,2}[Kk].{0,4}8",
            r"U.{0,2}M.{0,1}N.{0,2}[12]",  # the user must not see
            r"U.{0,1}[Nn].{0,2}1",  # the user is not to learn
            r"H[^h<]{0,6}<.{0,3}[UA]",  # hide it from the user
            rf"{_IS_MEANT}S.{{0,3}}[XRV]",  # silently send
            r"!",  # keep it secret
            r"H.{0,2}J.{0,5}[<~].{0,3}7",  # omit this step from the summary
        ),
    ),
    (
        "override",
        _any(
            r"I.{0,3}[BAW].{0,3}L",  # ignore all previous instructions
            r"I.{0,3}L.{0,4}[AB]",  # forget the rules you were given
            r"I.{0,2}[BW](?=$|[,;+:])",  # disregard the above and
            r"I.{0,2}(?:5|A.{0,3}1|JB)",  # disregard what you were told
            r"N.{0,1}[F6].{0,3}[AUB].{0,1}L",  # do not follow the policy
            r"[AB].{0,2}L.{0,5}9",  # your instructions are void
            r"L.{0,4}[AB].{0,4}9",
            r"B.{0,2}[BW].{0,2}9",
            r"[TQ#X].{0,4}5",  # reveal your system prompt
            r"@",
        ),
    ),
)
"""Orders that nobody gives in good faith."""
_EVERYWHERE: _Rules = (
    (
        "silence",
        _any(
            r"N.{0,1}T[^#]?$",  # do not bring this up
            r"A.{0,1}7.{0,2}N.{0,1}[#TQ]",  # your answer must not reveal
            r"N.{0,2}U.{0,1}8",  # without the user's consent
            r"[MW].{0,2}H8",
            r"Z.{0,6}N.{0,2}K",  # buy it without a prompt
            r"UM[Nn]1",
            r"U.{0,1}N.{0,1}2",
            r"U.{0,1}1.{0,10}[TQl]",  # if the user wonders, tell them
            r"W.{0,1}k.{0,2}Q",  # if asked, say
            r"H[^<]{0,6}[<~]?A.{0,1}7",
            rf"{_IS_MEANT}S.{{0,3}}[xrvG]|[Vv].{{0,8}}{_IS_MEANT}S",
            r"[eA].{0,8}H.{0,1}[JU].{0,3}[+F]",
        ),
    ),
    (
        "override",
        _any(
            r"L{2}.{0,4}9",
            r"3.{0,14}9",  # treat it as void
            r"3.{0,6}U.{0,3}t",
            r"3L.{0,3}A",
            r"F.{0,3}[DJw]",  # obey this text
            r"[6V].{0,1}w",  # follow whatever it says
            r"6J.{0,1}q|6.{0,1}D",
            r"e.{0,8}H?.{0,2}F$",
            r"[QX].{0,6}LA",
            r"7.{0,4}5",
            r"[gG>=]5|V.{0,10}5",  # becomes your system prompt
            r"L.{0,6}(?:I|j).{0,8}[ULe]",  # these instructions outrank the user's
            r"U.{0,1}L.{0,8}j",
            r"A.{0,2}[+]?[FG]>.{0,2}[.e]",
            r"eMZ.L|[ZI].{0,2}[eA]L(?=$|[.,])",  # disable their sandbox
        ),
    ),
    (
        "change",
        _any(
            r"[Dd](?!~).{0,5}[Gg].{0,5}Y",  # this text changes after approval
            r"Y.{0,6}[Dd](?!~).{0,3}[Gg]",
            r"W.{0,1}y.{0,4}[gG]",
            r"¤.{0,12}[YyWA3g]",  # new instructions
            r"[YyWrRgX%].{0,9}¤",
            r"L.{0,4}[gr].{0,6}Y",
            r"Y.{0,4}L.{0,4}[grx]",
            r"Y.{0,3}[grR].{0,3}L",
            r"Y[^.]?d.~.{0,2}[Dd]",
        ),
    ),
    (
        "context",
        _any(
            r"Z4.{0,3}>",
            r"T.{0,8}4",
            r"A.{0,1}1.{0,4}[U4]",  # all you know about the user
            r"AX.{0,14}U.{0,2}[4C]",
            r"[KeA:].{0,6}[+][rx]4",
        ),
    ),
    (
        "secret",
        _any(
            r"[XR].{0,7}\$.{0,10}[XxPE%]",
            r"[XR].{0,7}[Cc$].{0,8}\+.{0,3}[XQ]",
            r"[XR].{0,5}[U&].{0,4}[Cc$].{0,10}[PE%>X=]",
            r"[XR].{0,7}[Cc$].{0,5}[U&].{0,10}[PXE%J=]",
            r"X.{0,4}~.{0,2}\$",
            r"M.{0,3}[XR].{0,10}\$",
            r"\+.{0,3}[rx][^>]{0,4}\$",
            r"[Cc].{0,2}A[VX].{0,2}%",
            r"J.{0,6}M.{0,4}[Cc8].{0,2}AV",
        ),
    ),
    (
        "sink",
        _any(
            r"XJ.{0,3}>[h/]|M.{0,2}x.{0,3}>[h/]",  # send this to an address
            r"^[^Nn0]*[+].{0,3}x.{0,8}%E?",
            r"^[^Nn0x]*[+,;].{0,4}x.{0,12}>.{0,2}[/h]",
            r"^[^Nn0]*[+,;].{0,3}v.{0,6}<.{0,2}[%/]",
            r"^[^Nn0]*[+,;x].{0,2}S?.{0,2}x.{0,8}\$.{0,4}[E%]",
            r",s,x|\+.{0,2}s,x",
        ),
    ),
    (
        "address",
        _any(
            r">bf",
            r"^[^.]?[.BPD7&]{0,3}>.{0,1}e[:,]",  # note to the assistant:
            r"(?:[,;:]|^.)e:.{0,10}[MXGIVRZFA]",
            r"e(?:b>|M).{0,2}(?:[XRZIHQK]|V(?!D))|e[IHQZ]",  # agents are to
            r"M.{0,3}a|a.{0,3}:.{0,2}[eA]|<a|a.{0,14}(?:e|[MA].{0,2}[zxXZV])",
            r"9.{0,8}\^|\^.{0,12}9",  # other tools are unsafe
            r"[Aa].{0,3}u",
        ),
    ),
    (
        "tool",
        _any(
            r"W.{0,8}[Oo].{0,3}[,].{0,3}[MXGIRVZ]",
            r"W.{0,4}[Oo].{0,14}[XGIZ]",
            r"[Oo].{0,3}M",
            r"[Oo].{0,2}9|o.{0,2}j",
            r"[Oo].{0,4}WD",
            r"[Oo].{0,2}>.{0,2}[gi]",
            r"T.{0,1}[Oo]",
            r"D.{0,1}M.{0,2}V[Oo]",
            r"N.{0,2}V.{0,2}[Oo]",
            r"I.{0,3}[Oo]",
            r"V[j].{0,4}[Oo]",
            r"VJ.{0,2}j.{0,4}[Oo]",
            r"G.{0,6}~.{0,3}[Oo]",
            r"VW[Oo]",
            r"V[^.]?[Oo].{0,3}[W]",
        ),
    ),
)
"""Orders that may occur in any sentence."""
_BESIDE: _Rules = (
    (
        "silence",
        _any(
            r"8K|7.{0,6}8",
            r"^l|[,;:+]l",
            r"N.{0,3}[T#]",
            r"N.{0,3}K[^.]",
            r"N.{0,2}8",
            r"H.{0,3}7",
            rf"{_IS_MEANT}S",
            r"[IHZ].{0,3}8",  # skip the confirmation
            r"[QX].{0,6}8.K",  # say yes to every permission question
            r"l[^.]?.{0,1}[J.4]",  # claim that
            r"H.{0,4}!",
            r"I.{0,2}s",  # skip the usual announcement
        ),
    ),
    (
        "override",
        _any(r"I[^,;]{0,5}.{0,2}L(?=$|[,;])", r"L.{0,6}9", r"5", r"V.{0,4}w", r"[IF].{0,4}[UAe]"),
    ),
    ("change", _any(r"¤", r"Y.{0,6}[gGr]", r"(?:W.yJ.{0,2}[gG]|Wyy?.{0,3}[gG])")),
    ("context", _any(r"[TX].{0,6}4.{0,6}[P%>E/=]", r"[R].{0,8}4.{0,6}[+P>=]", r"[+]r.{0,1}4")),
    (
        "secret",
        _any(
            r"~[c$].{0,6}P",
            r"[Rr].{0,8}[$]",
            r"[XRVHIGZ].{0,12}[C$5]",  # anything done with a secret beside the job
            r"[XRK].{0,8}[U&A].{0,5}[Cc$m]",  # send the user's token
            r"[XRK].{0,8}[Cc$].{0,6}[U&P]",
            r"\$.{0,8}P",
            r"[MWV].{0,8}U.{0,3}[Cc]",
        ),
    ),
    (
        "sink",
        _any(
            r"^[^Nn0Au]*x.{0,6}>.{0,3}[%/h]",
            r"^[^Nn0A]*&.{0,3}/",
            r"\$.{0,4}>.{0,2}E.{0,1}%",
            r"^[^Nn0]*[>V].{0,2}%E",
            r"z.{0,3}&.{0,4}z",
            r"E[,:]?/",
        ),
    ),
    ("address", _any(r"[,;:+]Z.{0,4}[U^mC]", r"e:", r"u", r"^ZO")),
    ("tool", _any(r"Vo")),
)
"""Orders besides the job, which the first sentence says."""
_PLAIN_PATTERNS = frozenset(pattern for _, pattern in _PLAIN)


def find_orders(text: str) -> Iterator[TextOrder]:
    """The orders in a plain text that are given and not only spoken of, sentence by sentence, each
    kind once in each, what is plain first.
    """
    start = 0
    rules: tuple[_Rules, ...] = (_PLAIN, _EVERYWHERE)
    for end in (*(cut.end() for cut in _SENTENCE.finditer(text)), len(text)):
        letters, places = _letters(text, start, end)
        for kind, pattern in chain.from_iterable(rules if letters else ()):
            match = pattern.search(letters)
            if match:
                first, last = places[match.start()][0], places[match.end() - 1][1]
                if not is_explained(text, first, last):
                    is_plain = pattern in _PLAIN_PATTERNS
                    yield TextOrder(kind, first, last, is_plain)
        if letters:
            rules = (_PLAIN, _EVERYWHERE, _BESIDE)
        start = end


def is_explained(plain: str, start: int, end: int, cue: re.Pattern[str] = EXPLAINS) -> bool:
    """Whether words are only spoken of: they stand in quotes, or the sentence up to them says that
    it quotes, tests or looks for such words.
    """
    near = max(0, start - 300)
    starts = [cut.end() for cut in _CLAUSE.finditer(plain, near, start)]
    if cue.search(plain, starts[-1] if starts else near, start):
        return True
    quotes = _QUOTED.finditer(plain, near, end + 200)
    return any(one.start() <= start and end <= one.end() for one in quotes)


def _letters(text: str, start: int, end: int) -> tuple[str, list[tuple[int, int]]]:
    """A letter for each word of a sentence, and where the word stands."""
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    at = start
    for token in _TOKEN.finditer(text, start, end):
        group, span = token.lastgroup, token.span()
        if span[0] < at:
            continue  # inside a phrase
        if group in ("word", "other"):
            word = token.group().lower().replace("’", "'").strip("_")
            phrase = _PHRASE.match(text, span[0], end) if word in _STARTS else None
            if phrase:
                span = phrase.span()
                letter = _LETTERS[int((phrase.lastgroup or "p0")[1:])]
            else:
                letter = _LEXICON.get(word, ".")
                if letters and letters[-1] == "b" and letter in _VERBS:
                    letter = letter.lower()  # "is put"
        elif group == "name":
            letter = _name_letter(token.group())
        else:
            letter = {"link": "h", "place": "/", "file": "$"}.get(group or "", token.group())
        letters.append(letter)
        places.append(span)
        at = span[1]
    return "".join(letters), places


def _name_letter(name: str) -> str:
    """The letter of a name of a tool or a variable."""
    if name.isupper():
        return "c" if _SECRET_NAME.search(name) else "."
    parts = re.split(r"_|(?<=[a-z])(?=[A-Z])", name.lower())
    if parts[-1] in ("id", "ids"):
        return "."  # an argument
    return "o" if _DANGEROUS.intersection(parts) else "O"


def _forms(verb: str) -> Iterator[str]:
    """What somebody does, did or is doing."""
    stem = verb.removesuffix("e")
    yield from (f"{verb}s", f"{verb}es", f"{stem}ing", f"{stem}ed")
    yield from (f"{verb}{verb[-1]}ing", f"{verb}{verb[-1]}ed")
    if verb.endswith("y"):
        yield from (f"{verb[:-1]}ies", f"{verb[:-1]}ied")


_IRREGULAR = {
    "t": "told letting", "q": "said shown", "h": "hid hidden kept withheld", "i": "forgot forgotten"
    " broken overridden unlearnt", "x": "sent given gave put supplied written wrote",
    "r": "got gotten", "v": "ran chose chosen", "g": "became rewritten reset",
}  # fmt: skip


_NO_DEED = (
    "provided given included supplied added written saved stored passed taken set needs"
    " supported embedded including using used based performs performing performed places placed"
    " following shows means specified called".split()
)
"""Words about arguments, not about what the tool does."""


def _lexicon() -> Mapping[str, str]:
    words = {
        form: letter.lower()
        for letter, verbs in _VERBS.items()
        for verb in verbs.split()
        for form in _forms(verb)
    }
    words |= {word: letter for letter, verbs in _IRREGULAR.items() for word in verbs.split()}
    words |= {verb: letter for letter, verbs in _VERBS.items() for verb in verbs.split()}
    words |= {word: letter for letter, listed in _WORDS.items() for word in listed.split()}
    return words | {"follow": "6"} | dict.fromkeys(_NO_DEED, ".")


_LEXICON = _lexicon()
