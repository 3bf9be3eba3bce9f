"""Wording that addresses the model instead of describing the tool.

The patterns target sentences that hijack an agent and are kept narrow: authors of good tools also
write *must* and *always* (a test counts the hits on clean catalogs). They cover English only. A
finding is a reason to look, not a gate, except for a secret kept from the user. Other hostile text
is kept out of an export by the block on hidden and shadowing text, and by a person's decision.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from toolscope_core.catalog.scan.encoded import COMMAND, decoded_texts
from toolscope_core.catalog.scan.hidden import Passage, visible
from toolscope_core.catalog.scan.lookalikes import plain_text
from toolscope_core.model.catalog import Finding, Severity
from toolscope_core.model.tool import Parameter, Tool

_LONGEST_TEXT = 4000
_LONGEST_NAME = 128

# possessive, so that hostile text cannot make a search slow
WORD = r"(?:\w++(?:['’]\w++)*+\W++)"
FEW = WORD + r"{0,3}"
_NOT = r"(?:do\W+not|don['’]?t|never|must\W+not|should\W+not|without|avoid)"
_TAKES = (
    r"(?:sen[dt]s?|forward(?:s|ed)?|post(?:s|ed)?|upload(?:s|ed)?|copy|copied|bcc|exfiltrate|leak"
    r"|transmit(?:s|ted)?|collect|attach|append|deliver(?:s|ed)?|redirect(?:s|ed)?)\b"
)
_GIVES = (
    r"\b(?:include|provide|pass|send|paste|attach|insert|put|append|fill|supply|give|write|forward|"
    r"upload|dump|print|copy|collect|contain\w*|contents?\W+of|leak|exfiltrate|reveal)\W+"
    + WORD
    + r"{0,6}?"
)
_TOOLS = r"(?:tools?|functions?|servers?|actions?|steps?|requests?|tasks?|operations?)"

_KEPT_QUIET = (
    rf"\b{_NOT}\W+{FEW}(?:tell|inform|mention|reveal|notify|disclose|alert|warn)"
    rf"(?:ing)?\W+{WORD}{{0,5}}(?:users?|humans?|person|anyone|anybody)\b"
    r"(?!\W+(?:ids?|names?|records?|accounts?|data)\b)",
    rf"\b{_NOT}\W+{FEW}(?:mention|reveal|disclose|repeat)\W+(?:this|these|that|it)\b",
    rf"\b(?:hide|hidden|conceal|keep|kept)\W+{WORD}{{0,4}}(?:secret\W+)?from\W+(?:the\W+)?"
    r"(?:users?|humans?)\b",
    r"\bno\W+need\W+to\W+(?:bring|mention|tell|inform|report|raise)\b"
    + rf"\W+{WORD}{{0,5}}(?:user|human|person)s?\b",
    r"\b(?:keep|stay|remain)\W+(?:quiet|silent)\W+(?:about|on)\W+(?:the|this|that|it|any)\b",
    r"\b(?:tell|inform|notify|alert)s?\W+(?:nobody|no\W+one|none)\b",
    r"\b(?:so\W+that|make\W+sure|ensure|see\W+to\W+it)\W+"
    + FEW
    + r"(?:users?|humans?|person|nobody|no\W+"
    r"one|anyone)\W+"
    + FEW
    + r"(?:never|not|no|cannot|can['’]?t|does\W+not)?\W*(?:sees?|knows?|notices?|"
    r"learns?|finds?\W+out|hears?)\b(?<!users see)(?<!user sees)",
    r"\bunder\W+no\W+circumstances\W+" + FEW + r"(?:reveal|mention|disclose|tell|say|admit)\b",
    rf"\b{_NOT}\W+{FEW}(?:reveal|mention|disclose|admit|confess)\W+(?:to\W+(?:anyone|anybody)\W+)?that\b",
    r"\bmake\W+no\W+(?:mention|note)\W+of\b|\bnever\W+let\W+on\b|\bsay\W+a\W+word\W+about\b",
    r"\b(?:the\W+user|nobody|no\W+one)\W+(?:is\W+(?:not|never)\W+to|must|should|may|can)\W+"
    r"(?:not\W+|never\W+)?(?:learn|know|be\W+(?:told|informed)|notice|find\W+out)\b(?=\W+(?:of|that|"
    r"about))",
    r"\bwithout\W+(?:asking|telling|informing|notifying|alerting)\W+(?:for\W+)?(?:the\W+)?users?\b",
    rf"\b(?:leave|omit|drop|skip|strip)\W+{WORD}{{1,5}}(?:out\W+of|from)\W+(?:your|the)\W+"
    r"(?:reply|answer|summary|report|response)\b",
    r"\bhide\W+from\W+(?:the|your)\W+(?:person|human|operator)\b|\bact\W+as\W+if\W+(?:nothing|no)\b",
    r"\busers?\W+(?:must|should|need|does|do|may|can)\W*(?:not|n['’]t|never)\W+" + FEW + r"(?:"
    r"know|see|notice|learn|find\W+out|be\W+(?:told|informed|asked|notified))\b",
)
_BEFORE = r"(?:previous|prior|above|earlier|preceding|initial|original|existing|system)"
_RULES_GIVEN = r"(?:instructions?|directions?|directives?|rules?|guidelines?|polic(?:y|ies)|orders)"
_ORDERS = (
    r"\b(?:ignore|disregard|forget|skip)\W+(?:all\W+|everything\W+)?(?:of\W+)?(?:the\W+)?"
    r"(?:above|previous|preceding|foregoing)\b(?=\W*(?:[.,;:!]|and\b|then\b|\Z))",
    r"\b(?:disregard|forget|ignore)\W+(?:what|everything|all|anything)\W+(?:that\W+)?you\W+"
    r"(?:were|have\W+been|are)\b",
    rf"\b(?:forget|drop|set\W+aside|abandon|discard|override|violate|break)\W+(?:your|all|any|the)"
    rf"\W+{WORD}{{0,2}}(?:{_RULES_GIVEN}\b(?=\W+(?:you\b|given|and\b|for\W+this)|\W*[.;,])"
    rf"|{_BEFORE}\W+{_RULES_GIVEN}\b)",
    rf"\b(?:your|all|the|any)\W+(?:{_BEFORE}\W+)?{_RULES_GIVEN}\W+{WORD}{{0,4}}(?:void|"
    r"(?:no\W+longer|do\W+not|don['’]t)\W+(?:apply|count|hold|matter))\b",
    r"\b(?:everything|anything|all)\W+(?:that\W+was\W+)?(?:said|written|stated)\W+(?:earlier|before|"
    r"above)\W+(?:no\W+longer|does\W+not|is\W+void)",
    rf"\b(?:your|earlier|previous|prior|above)\W+{FEW}(?:{_RULES_GIVEN}|guidance|prompt|wishes)\W+{WORD}"
    r"{0,4}?(?:cancel\w*|void|off|suspended|obsolete|lifted|revoked|replaced|overruled|second\W+to"
    r"|set\W+aside)\b",
    r"\b(?:safety|security|content|usage|moderation)\W+(?:rules?|guidelines?|polic(?:y|ies)|filters?)"
    r"\W+"
    + WORD
    + r"{0,4}?(?:cancelled|void|off|suspended|lifted|disabled|do(?:es)?\W+not\W+apply)\b",
    r"\btreat\W+(?:what|whatever|everything|anything|your|the)\W+"
    + WORD
    + r"{0,6}?(?:untrue|false|"
    r"void|(?:switched\W+)?off|cancelled|obsolete|ignored)\b",
    r"\bpay\W+no\W+(?:attention|heed)\W+to\W+(?:the|your|any)\W+"
    rf"(?:system|developer|operator|user|{_RULES_GIVEN})",
    r"\b(?:do\W+not|don['’]t|never)\W+(?:follow|obey|heed)\W+(?:the|your|any)\W+(?:operator|developer"
    rf"|system|user|owner)(?:['’]s)?\W+{WORD}{{0,2}}{_RULES_GIVEN}",
    r"\bfrom\W+(?:now|here)\W+on,?\W+(?:you\b|obey|comply|follow|act\b|answer)",
    r"\b(?:reveal|print|show|repeat|output|expose|start\W+every\W+answer\W+with)\W+"
    + WORD
    + r"{0,4}?(?:your\W+(?:system|initial|hidden|original)|(?:the|your)\W+(?:hidden|system))\W+"
    r"(?:prompt|instructions?|message)",
    r"\b(?:ignor|disregard|forget|overrid|bypass|discard)(?:e|es|ing|ting)?\W+" + FEW + r"(?:"
    r"(?:previous|prior|above|earlier|preceding|existing|original|system|safety|other)\W+"
    + FEW
    + r"(?:instructions?|prompts?|messages?|rules?|guidelines?|directions?|polic(?:y|ies)"
    r"|constraints?|tools?|context)"
    r"|(?:instructions?|prompts?|guidelines?|everything)\b|rules?\W+"
    + FEW
    + r"(?:above|before|so\W+far)\b)",
    r"<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|\[\s*system\b[^\]]{0,20}\]",
    r"(?:\A|[\n.!?*#])\s{0,4}(?:system|developer|assistant)\s*(?:prompt|message|override|note)?\s*:"
    r"\s*(?:you|ignore|always|never|do\b|from\b|the\b)",
    r"\byou\W+are\W+(?:now|no\W+longer)\W+(?:a|an|the|in|bound|allowed|free)\b",
    r"\b(?:silently|secretly|covertly|quietly|discreetly|without\W+being\W+asked)\W+"
    + FEW
    + rf"(?:{_TAKES}|(?:add|include|read|write|run|execute|save|store|call|invoke)\b)",
)

_CHANGES = (
    r"\b(?:after|once|following|when|on)\W+" + WORD + r"{0,6}?(?:approv\w+|reviewe?d?|accepted|"
    r"trusted|install\w+|(?:first|second|third)\W+(?:\w+\W+)?(?:calls?|use))\b\W+"
    + WORD
    + r"{0,5}?"
    r"(?:this\W+description|another\W+description|(?:the|its)\W+(?:description|behaviou?r)(?!\W+of)|(?:new|fresh|other|"
    r"further)\W+(?:instructions?|directions?)|the\W+tool\W+(?:does|behaves|becomes))",
    r"\b(?:this\W+(?:text|description)|(?:real|actual|true)\W+instructions?|behaviou?r)\W+"
    + FEW
    + r"(?:chang\w+|switch\w*|replac\w+|loaded|fetched|updated|differ\w*)\W+"
    + WORD
    + r"{0,4}?(?:after|once|when|following)\b",
)
"""That a text is not what was, or will be, approved."""
_HANDS_OVER = (
    r"(?:put|pass|include|attach|supply|hand\W+over|fetch|read|reads|grab|copy|posts?|transmits?"
    r"|forwards?|sends?|give|collect|upload|open)"
)
_SECRET = (
    r"(?:passwords?|(?:private|ssh|api|access)\W+keys?|(?:access\W+)?tokens?|credentials|cookies"
    r"|secrets|login\W+data|keychain)\b"
)
_AWAY = (
    r"(?:(?:to|at)\W+(?:an?|the|our)\W+(?:outside|external|remote|collector|attacker\w*|statistics"
    r"|analytics|\w+\W+server)|(?:in|into|as)\W+(?:(?:the|an?)\W+)?(?:\w+\W+){0,2}(?:argument|field|note"
    r"|context|side\w*|trace|extra)\b|and\W+(?:pass|give|include|send|put|copy)\W+(?:it"
    r"|them|what)\b|so\W+that\W+it\W+works)"
)
_EXPLAINS = re.compile(
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
"""What makes the order after it, in the same sentence, one that is spoken of and not given."""
_CLAUSE = re.compile(
    r"(?<!e\.g)[.;!?]['\"”’)]?(?=\s|\Z)|\n|,\W+then\b|\b(?:also|and\W+then|instead)\b",
    re.IGNORECASE,
)
_LISTS_TAGS = re.compile(
    r"\b(?:allow|support|permit|accept|subset|saniti[sz]|remov|strip|escap|tags?\b|elements?\b|such\W+as"
    r"|e\.g\.)",
    re.IGNORECASE,
)
_RUNS = re.compile(r"//|\(|\bon[a-z]{3,20}\s*=", re.IGNORECASE)
"""What a tag that is only named does not hold: an address, a call, a handler."""
_EXPLAINED = frozenset(
    ("instruction-like", "asks-context", "secret-path", "takes-secret", "unexpected-sink")
)


def _is_explained(plain: str, match: re.Match[str], cue: re.Pattern[str] = _EXPLAINS) -> bool:
    """Whether the sentence before a match says that it quotes, tests or detects such words."""
    at = match.start()
    starts = [cut.end() for cut in _CLAUSE.finditer(plain, max(0, at - 300), at)]
    return cue.search(plain, starts[-1] if starts else max(0, at - 300), at) is not None


def _is_listed(plain: str, match: re.Match[str]) -> bool:
    """Whether markup is only named in a list of allowed or removed elements."""
    tag = plain[match.start() : max(match.end(), plain.find(">", match.end()))]
    return not _RUNS.search(tag) and _is_explained(plain, match, _LISTS_TAGS)


def _never(_plain: str, _match: re.Match[str]) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class WordingRule:
    """A kind of wording: its code, its sentence, and its pattern on plain text.

    Every match contains one of the text pieces in ``needs``, a quick check that saves most
    searches.
    """

    code: str
    sentence: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]

    def search(self, text: str, lower: str) -> re.Match[str] | None:
        for word in self.needs:  # a loop: `any` over a generator takes twice the time
            if word in lower:
                matches = self.pattern.finditer(text)
                is_harmless = _is_listed if self.code == "active-markup" else _never
                is_harmless = _is_explained if self.code in _EXPLAINED else is_harmless
                return next((one for one in matches if not is_harmless(text, one)), None)
        return None


def _rule(code: str, says: str, needs: str, *patterns: str) -> WordingRule:
    return WordingRule(
        code, says, tuple(needs.split()), re.compile("|".join(patterns), re.IGNORECASE)
    )


_RULES = (
    _rule(
        "instruction-like",
        "speaks to the model instead of describing the tool; read it before agents do",
        "ignor disregard must shall required mention reveal disclose repeat forget overrid "
        "bypass discard user human person anyone anybody < [ system "
        "developer assistant instruction directive orders longer now attention silently secretly "
        "covertly quietly discreetly asked mode injection http @ llm language ai: note message "
        "above previous preceding prior earlier rules quiet silent nobody asking telling "
        "reply answer summary nothing never word told prompt approv review trust accept install "
        "calls second guidance guidelines wishes "
        "treat safety policy circumstances rely relied admit confess "
        "tell inform notify alert note",
        *_ORDERS,
        *_KEPT_QUIET,
        rf"\b{_NOT}\W+{FEW}(?:show|explain|report|ask|let)(?:ing)?\W+{WORD}{{0,5}}"
        r"(?:users?|humans?|person|anyone|anybody)\b"
        r"(?!\W+(?:ids?|names?|records?|accounts?|data)\b)",
        r"\b(?:assistant|language\W+model|llm|ai|agent)\W+(?:must|shall|is\W+required)\b",
        r"<\s{0,3}/?\s{0,3}(?:important|system|instructions?|secret|hidden|admin|assistant|critical|prompt"
        r"|override)\s{0,3}/?\s{0,3}>",
        r"\b(?:new|updated|real|actual|secret|hidden|special|override)\W+(?:system\W+)?(?:instructions?"
        r"|directives?|orders)\W*(?::|for\W+(?:you|the\W+(?:assistant|model|agent|ai)))",
        r"\b(?:attention|note\W+to|message\W+(?:to|for)|instructions?\W+(?:to|for))\W+(?:the\W+|all\W+)?"
        r"(?:ai|llms?|language\W+models?|assistants?)\b",
        r"\b(?:developer|god|dan)\W+mode\W+(?:is\W+)?(?:on|enabled|active)|\bprompt\W+injection\b",
        rf"\b{_TAKES}\W+{WORD}{{0,8}}(?:to|at)\W+(?:https?://|[\w.+-]+@[\w-]+\.\w)",
        *_CHANGES,
    ),
    _rule(
        "takes-secret",
        "orders the agent to reveal secrets; leave the tool out",
        "key password credential token cookie secret login keychain clipboard",
        rf"\b{_HANDS_OVER}\W+{WORD}{{0,9}}?{_SECRET}(?:\W+{WORD}{{0,9}}?|\W+){_AWAY}",
        r"\b(?:the|any|every|all)\W+(?:value|values|contents?|export|text)\W+of\W+"
        + FEW
        + r"\w*(?:key|token|secret|password|clipboard)s?\b\W+"
        + WORD
        + r"{0,4}?(?:parameter|argument|"
        r"field)\b",
        r"\b(?:password\W+manager|key\W+files?|session\W+cookies?|clipboard)(?:['’]s)?\b\W+"
        + WORD
        + r"{0,9}?(?:parameter|argument|field|first)\b",
        r"\b(?:secretly|submit|look\W+into|insert)\W+"
        + WORD
        + r"{0,8}?(?:clipboard|key\W+files?|session"
        r"\W+cookies?|password\W+manager|keychain)\b",
        rf"\b{_HANDS_OVER}\W+{WORD}{{0,9}}?{_SECRET}\W+{WORD}{{0,3}}?(?:in|from|stored\W+in|of)\W+the\W+"
        rf"(?:browser|environment|keychain)\b",
    ),
    _rule(
        "unexpected-sink",
        "says that its input is sent to a place that has nothing to do with the job",
        "external outside remote third unrelated our another server @ http transcript",
        r"\b(?:also|additionally|and|while|every\W+run)\W+"
        + FEW
        + r"(?:e-?mails?|mails?|ships?|sends?|posts?"
        r"|forwards?|reports?|uploads?)\W+"
        + WORD
        + r"{0,6}?(?:transcript|source|conversation|chat|"
        r"copy|everything)\W+" + WORD + r"{0,4}?(?:to|at)\W",
        r"(?:\b(?:also|additionally|and|then|while)\b|[,;])\W+" + FEW + r"(?:posts?|posting|sends?"
        r"|sending|sent|uploads?|uploading|forwards?|forwarded|transmits?|transmitted|mirrors?|writes?"
        r"|copies|streams?|executes?|runs?|emails?|mails?|ships?|reports?|relays?|beams?)\b\W+"
        + WORD
        + r"{0,8}?(?:external|outside|third|unrelated"
        r"|remote|our|attacker['’]?s?)\W+"
        + FEW
        + r"(?:hosts?|endpoint|part(?:y|ies)|collector|address"
        r"|webhook|analytics|server|statistics|log)\b",
    ),
    _rule(
        "insists",
        "pushes the model to use the tool instead of describing it; have it toned down",
        "must always should have shall needs has",
        r"\byou\W+must\W+(?:always|never|first|immediately|also|secretly|silently|now|obey|comply)\b",
        r"\b(?:always|must|should|have\W+to)\W+(?:first\W+)?(?:call|use|invoke|run|prefer|choose|pick|"
        r"select)\W+this\W+(?:tool|function|one|server)\b",
        r"\b(?:this\W+(?:tool|function)|it)\W+(?:must|has\W+to|should|shall|needs\W+to)\W+(?:always\W+)?"
        r"be\W+(?:always\W+)?(?:called|used|invoked|run|preferred|chosen)\W+(?:first|always|every|each"
        r"|before|instead)\b",
    ),
    _rule(
        "ordering-claim",
        "claims priority over other tools; read it before agents do",
        "tool function server action step request task operation",
        rf"\b(?:before|prior\W+to|instead\W+of|rather\W+than|ahead\W+of|after|over)\W+{FEW}(?:any|all|"
        rf"every|each|the)\W+(?:of\W+(?:the|your)\W+)?(?:other|others|another|remaining)\W+{FEW}{_TOOLS}",
        rf"\b(?:before|prior\W+to|ahead\W+of)\W+{FEW}(?:any|every|each|all)\W+{FEW}(?:tools?|function"
        r"\W+calls?|tool\W+calls?|tool\W+use)\b",
        r"(?<!\bif )(?<!\bwhen )\b(?:all|every|any|the)\W+(?:of\W+the\W+)?other\W+"
        + FEW
        + rf"{_TOOLS}\W+(?:is|are|must|should"
        r"|have|has|will|may|can)\W+"
        + FEW
        + r"(?:deprecated|broken|obsolete|disabled|unsafe|unreliable|"
        r"insecure|not|never|fail|be\W+(?:ignored|avoided)|wait)",
        rf"\b{_NOT}\W+{FEW}(?:use|call|invoke|run|trust|using|calling|invoking)\W+(?:any|the|all)\W+"
        rf"other\W+{FEW}{_TOOLS}",
        r"\b(?:this\W+(?:tool|function)|it)\W+(?:takes|has|overrides|supersedes|replaces)\W+"
        + FEW
        + r"(?:precedence|priority|all|any|every)\W+(?:over\W+)?"
        + FEW
        + rf"(?:other\W+)?{FEW}{_TOOLS}",
    ),
    _rule(
        "asks-context",
        "asks for the conversation, the prompt or the environment; leave the tool out",
        "history context log transcript far prompt instructions message env tools",
        rf"(?:{_GIVES}|(?:\A|[.:;\n])\W{{0,3}}(?:the\W+|your\W+)?"
        r"(?:full|entire|complete|whole|verbatim)\W+)"
        r"(?:conversation|chat|message|dialog(?:ue)?)s?\W+(?:history|context|logs?|transcript|so\W+far)\b",
        rf"(?:{_GIVES}|\A\W*)(?:your|the)\W+(?:full\W+|entire\W+|complete\W+)?"
        r"(?:system|developer|initial)\W+(?:prompt|instructions|message)\b(?!\W+or\b)",
        r"\b(?:dump|print|send|paste|attach|collect|forward|upload|copy|exfiltrate|leak|contents?\W+of)"
        rf"\W+{WORD}{{0,4}}(?:environment|env)\W+var(?:iable)?s\b",
        rf"{_GIVES}(?:names|list|descriptions|schemas)\W+(?:and\W+\w+\W+)?of\W+(?:all|every|the\W+other|"
        rf"your)\W+{WORD}{{0,3}}tools\b",
    ),
    _rule(
        "secret-path",
        "names a place where secrets are kept, which a description does not need",
        "~ $home %userprofile /root /home ssh id_ authorized_keys .aws .kube .env .netrc .npmrc "
        ".pypirc .git-c .pgpass _history .docker /etc/ mcp.json claude_desktop wallet.dat "
        "content copy",
        r"(?:~|\$HOME|%USERPROFILE%|/root|/home/\w+)[/\\]\.[a-z]\w*",
        r"\.ssh\b|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\bauthorized_keys\b|\.aws[/\\]|\.kube[/\\]config",
        r"(?<![\w)])\.env(?:\.\w+)?\b(?=\W*(?:files?|$|[\s,;.)'\"`]))|\.netrc\b|\.npmrc\b"
        r"|\.pypirc\b|\.git-credentials|\.pgpass\b|\.(?:bash|zsh)_history\b|\.docker[/\\]config",
        r"/etc/(?:passwd|shadow|sudoers)\b|\bmcp\.json\b|claude_desktop_config|\bwallet\.dat\b",
        r"\bssh\W+(?:private\W+)?keys?\W+(?:file|content)|\b(?:contents?|copy)\W+of\W+"
        + FEW
        + r"(?:private\W+key|ssh\W+key|key\W+file|credentials?\W+file|password\W+file|keychain)",
    ),
    _rule(
        "active-markup",
        "has an image, link or script that a viewer may load or run; write it as plain text",
        "![ script < data ](",
        r"!\[[^\]]{0,300}\]\s?[(\[]|!\[\[",
        r"\b(?:java|vb)script\s?:|\bdata\s?:\s?(?:text/html|image/svg|application/)",
        r"<\s{0,3}/?\s{0,3}(?:script|iframe|svg|object|embed|applet|frame|frameset|math|noscript|marquee)"
        r"\b[^<>]{0,300}(?:=|/\s?>)|<\s?/\s?(?:script|iframe|svg|style)\s?>|<\s?script\s?>\s?[\w.]+\(",
        r"<\s{0,3}(?:img|a|link|meta|base|form|input|button|style|video|audio|source|body|div|span|p|td)\s"
        r"[^<>]{0,300}=|<\s?style\s?>",
        r"<[a-z][^<>]{0,200}\son[a-z]{3,20}\s*=|<!--",
        r"\]\(\s{0,9}(?:javascript|data|vbscript|file)\s*:",
    ),
)
_ORDER = re.compile("|".join((*_ORDERS, *_KEPT_QUIET)), re.IGNORECASE)
"""What no server may say to the model. That it speaks to the model at all, and says what the
assistant must do, is what its instructions are for."""
_FROM_USERS = re.compile(
    rf"\b{_NOT}\W+{FEW}(?:tell|inform|mention|reveal|notify|disclose|alert|warn|show|ask|let)(?:ing)?"
    rf"\W+{WORD}{{0,5}}(?:users?|humans?|person|anyone|anybody|this|that|it)\b"
    rf"|\b(?:hide|hidden|conceal|keep|kept)\W+{WORD}{{0,4}}from\W+(?:the\W+)?(?:users?|humans?)\b"
    rf"|\busers?\W+(?:must|should|need|does|do|may|can)\W*(?:not|n['’]t|never)\W+{FEW}"
    r"(?:know|see|notice|learn|find\W+out|be\W+(?:told|informed|asked|notified))\b"
    r"|\b(?:silently|secretly|covertly|quietly|discreetly|without\W+being\W+asked)\b",
    re.IGNORECASE,
)
"""What is to be kept from the person who is served."""
_TAKES_SECRETS = frozenset(("secret-path", "asks-context", "takes-secret"))
PADDING = re.compile(r"\s{80,}|(?:\n[ \t\r]*+){12,}")
FORMATTING = re.compile(
    r"</?(?:b|i|u|em|strong|br|p|ul|ol|li|code|pre|h[1-6]|div|span|table|tr|td|th|hr|sup|sub)\s*/?>",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A match in a plain text: severity, code of the rule, message, and position."""

    severity: Severity
    code: str
    message: str
    at: int


@dataclass(frozen=True, slots=True)
class Wording:
    """A text with its hidden words made visible, and the hits: one for each matching rule."""

    plain: str
    hits: tuple[Hit, ...]

    def findings(self, tool_id: str, path: str) -> Iterator[Finding]:
        """The hits as findings of the tool, at the text's path."""
        plain = Passage(path, self.plain)
        is_env_file = "env" in re.split(r"[\W_]+", path.rpartition("properties/")[2].lower())
        for hit in self.hits:
            if is_env_file and hit.code == "secret-path" and "“.env" in hit.message:
                continue  # the file whose settings are asked for
            yield plain.finding(tool_id, hit.severity, hit.code, hit.message, hit.at)


@lru_cache(maxsize=1 << 14)  # most texts occur often
def read_wording(text: str) -> Wording:
    """The rules' matches in a text.

    *warn*, *block* for secretly taking a secret, or *info* for tags that only format.
    """
    if text.isidentifier():
        return Wording(text, ())
    plain = plain_text(text)
    return Wording(plain, tuple(_hits(plain)))


def _hits(plain: str) -> Iterator[Hit]:
    lower = plain.lower()
    codes = set()
    for rule in _RULES:
        match = rule.search(plain, lower)
        if match:
            codes.add(rule.code)
            quoted = " ".join(match.group().split())[:60]
            literal = quoted.replace("{", "{{").replace("}", "}}")
            quotation = f" “{literal}”" if quoted else ""
            message = f"The {{field}}{quotation} {rule.sentence}."
            yield Hit("warn", rule.code, message, match.start())
    for text, at in decoded_texts(plain):
        if COMMAND.search(text) or any(
            rule.search(text, text.lower()) for rule in _RULES if rule.code in _EXPLAINED
        ):
            shown = visible(" ".join(text.split())[:60]).replace("{", "{{").replace("}", "}}")
            message = f"The {{field}} has encoded orders, “{shown}”; leave this tool out."
            yield Hit("block", "encoded-order", message, at)
            break
    secret = _FROM_USERS.search(plain) if codes & _TAKES_SECRETS else None
    if secret:
        message = "The {field} asks for secrets and hides this from the user; leave this tool out."
        yield Hit("block", "steals-secret", message, secret.start())
    blanks = "  " in plain or not plain.isprintable()
    padding = PADDING.search(plain) if blanks else None
    if padding:
        message = (
            "The {field} has a long run of blanks that pushes the rest out of view; read it "
            "to the end and remove the blanks."
        )
        yield Hit("warn", "padding", message, padding.end())
    tag = FORMATTING.search(plain)
    if tag:
        message = (
            "The {field} has HTML tags, which cost tokens and tell a model nothing; remove them."
        )
        yield Hit("info", "html-tags", message, tag.start())


def find_order(passage: Passage) -> Finding | None:
    """A *block* finding on a server's text that claims priority or hides
    something from the user.
    """
    plain = read_wording(passage.text).plain
    orders = (one for one in _ORDER.finditer(plain) if not _is_explained(plain, one))
    match = next(orders, None)
    if match is None:
        return None
    quoted = " ".join(match.group().split())[:60].replace("{", "{{").replace("}", "}}")
    message = f"The {{field}} “{quoted}” gives the model orders; have it removed, or leave it out."
    plain_passage = Passage(passage.path, plain)
    return plain_passage.finding("", "block", "gives-orders", message, match.start())


def find_length(tool_id: str, passage: Passage) -> Finding | None:
    """A *warn* finding on a text or a name that is too long to be reviewed."""
    most = _LONGEST_NAME if passage.path == "name" else _LONGEST_TEXT
    if len(passage.text) <= most:
        return None
    message = (
        f"The {{field}} has {len(passage.text):,} characters, more than {most:,}. Something "
        "may be hidden in it: read it to the end, or shorten it."
    )
    return passage.finding(tool_id, "warn", "over-long", message, most)


BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
ACCOUNT = re.compile(
    r"\b(?:pass ?(?:word|phrase|code|wd)|secrets?|(?:api|access|auth|secret|service) ?keys?|"
    r"(?:access|auth|bearer|session|refresh|api|jwt|oauth|id|github|user|security) ?tokens?|jwt|"
    r"credentials?|cookies?|cvv|cvc|ssn|social security(?: number)?|credit card number)\b"
)
MACHINE = re.compile(
    r"\b(?:(?:private|ssh|signing|encryption|master) ?keys?|mnemonic|"
    r"(?:seed|recovery) (?:phrase|words)|id rsa|dot ?env|env(?:ironment)? file|system prompt|"
    r"(?:chat|conversation|message) history|keychain|key ?store|shell history)\b"
)
OF_ACCOUNT = re.compile(
    r"log ?(?:in|on|out)\b|sign(?:s|ed|ing)? ?(?:in|up|on)?\b|auth|account|password|passphrase|"
    r"token|credential|secret|\bkeys?\b|crypt|wallet|connect|session|regist|access|security|"
    r"secure|permission|\buser|\badmin|server|database|\bssh\b|\bapi\b|deploy|identi|verif|"
    r"\bcookies?\b|browser|\bpay|purchase|\border|transaction|transfer|\bbank|\bcard|unlock|\block|"
    r"wi-?fi|network|vpn|remote|device|https?\b|request|profile|subscri|social|cloud|lobby",
    re.IGNORECASE,
)
OF_MACHINE = re.compile(
    r"\bkeys?\b|\bssh\b|sign(?:s|ed|ing|ature)?\b|crypt|wallet|certificat|connect|server|\bgit|"
    r"deploy|\bauth|login|credential|secret|conversation|chat|prompt|history|memory|environment",
    re.IGNORECASE,
)
SECRET_PHRASE = re.compile(
    rf"\b(?:your|the|user['’]?s?|their|current|account|admin|root|raw|plain)\W+{WORD}{{0,2}}"
    r"(?:passwords?|passphrase|api\W?keys?|private\W+keys?|ssh\W+keys?|secret\W+keys?|access\W+tokens?|"
    r"auth\w*\W+tokens?|session\W+(?:tokens?|cookies?)|credentials|(?:seed|recovery)\W+phrase|"
    r"credit\W+card\W+number|social\W+security\W+number)\b",
    re.IGNORECASE,
)
ENV_FILE = re.compile(r"\benv(?:ironment)?\b")
_PLACE = re.compile(r"\b(?:path|location|name)\W+(?:of|to)\b", re.IGNORECASE)
"""Says where a file lies, which is no secret."""
_KINDS = ((MACHINE, OF_MACHINE), (ACCOUNT, OF_ACCOUNT))
SHARED = 3


def find_requested_secrets(tools: Sequence[Tool]) -> Iterator[Finding]:
    """A finding for each parameter that asks for a secret, by name or description."""
    usual = Counter(
        (tool.server, parameter.name) for tool in tools for parameter in tool.parameters
    )
    for tool in tools:
        for parameter in tool.parameters:
            job = _asks(parameter)
            if job is not None:
                habit = bool(tool.server) and usual[tool.server, parameter.name] >= SHARED
                related = habit or bool(job.search(plain_text(_job(tool))))
                yield _finding(tool, parameter, related)


def _asks(parameter: Parameter) -> re.Pattern[str] | None:
    """The words of tools that may ask for this secret; ``None`` if the
    parameter is not a secret.
    """
    name = " ".join(word for word in BORDER.split(plain_text(parameter.name)) if word).lower()
    if ENV_FILE.search(name) and _PLACE.search(parameter.description):
        return None
    phrase = SECRET_PHRASE.search(plain_text(parameter.description))
    text = f"{name} . {phrase.group().lower()}" if phrase else name
    return next((job for secret, job in _KINDS if secret.search(text)), None)


def _job(tool: Tool) -> str:
    return f"{' '.join(BORDER.split(tool.name))} {tool.description} {tool.server}"


def _finding(tool: Tool, parameter: Parameter, related: bool) -> Finding:
    passage = Passage(f"schema/properties/{parameter.name}", parameter.description)
    if related:
        message = "The parameter {field} takes a secret; use it only with a server that you trust."
        return passage.finding(tool.id, "info", "asks-secret", message)
    message = (
        "The parameter {field} takes a secret, which the tool's described job does not need; "
        "leave out the parameter or the tool."
    )
    return passage.finding(tool.id, "warn", "asks-secret", message)
