"""How commands ask a model to judge, grade and estimate. Answers are kept in the store.

A command that was interrupted, or paused by its budget, continues when it is repeated: answers in
the ledger are not requested again. The budget limits the calls of a single command.
"""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from toolscope_core.cli.options import AskRequest
from toolscope_core.cli.terminal import fail_for, progress, say
from toolscope_core.decisions.constraints import constraints
from toolscope_core.llm.answer_file import AnswerFile, FileRequests
from toolscope_core.llm.chat import USUAL_PATH, EndpointModel
from toolscope_core.llm.document_answers import ask_for_documents, with_documents
from toolscope_core.llm.estimates import Estimates, judging_estimates, question_estimates
from toolscope_core.llm.merge_questions import ask_for_verdicts, verdicts_on
from toolscope_core.llm.model_requests import Asker, ModelRequests
from toolscope_core.llm.request_workers import RunBudget, Terms
from toolscope_core.llm.run_configuration import configuration, model_without_key, prompts
from toolscope_core.llm.tasks.quality import grade_tools
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.analysis import Analysis, with_verdicts
from toolscope_core.model.configuration import Endpoint, PlanConfig, Prices, QuestionConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.environment import Settings, key_for, read_environment
from toolscope_core.model.errors import ConfigError, ModelStopError, PausedError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair
from toolscope_core.model.protocols import ChatModel, Ledger
from toolscope_core.rps.variant_writing import variants_of_model

if TYPE_CHECKING:
    from toolscope_core.llm.endpoints import Endpoints

_NOBODY = (
    "no model is chosen; set --base-url and --model, or TOOLSCOPE_BASE_URL and TOOLSCOPE_MODEL"
)


def with_model_verdicts(
    analysis: Analysis,
    log: Sequence[Decision],
    question_config: QuestionConfig,
    request: AskRequest,
    document_config: PlanConfig | None = None,
) -> Analysis:
    """The analysis with the model's verdicts, and with its documents for the clusters of the plan.

    ``document_config`` is the configuration of the plan. Ends in the same way as ``asking``.
    """
    links = constraints(analysis.catalog, log)
    if not request.replay:
        ask = partial(ask_for_verdicts, analysis, links, config=question_config)
        tell_cost("judge", ask, request, analysis)
    with asking(request) as (endpoint, asker):
        verdicts = ask_for_verdicts(analysis, links, asker, question_config)
        run_config = configuration("judge", endpoint, analysis.catalog, analysis, question_config)
        if document_config:
            analysis_by_model = with_verdicts(analysis, verdicts)
            clusters = plan_merge(analysis_by_model, log, document_config).clusters
            verdicts = with_documents(analysis_by_model, clusters, log, verdicts, asker)
            run_config = {
                **run_config,
                "prompts": prompts("judge", endpoint.prompts) | prompts("documents"),
            }
    return with_verdicts(analysis, replace(verdicts, configuration=run_config))


def with_verdicts_on(analysis: Analysis, pairs: Sequence[Pair], request: AskRequest) -> Analysis:
    """The analysis with the model's verdicts on these pairs. Ends in the same way as ``asking``."""
    with asking(request) as (_, asker):
        return replace(analysis, model_verdicts=verdicts_on(analysis, pairs, asker))


def tell_estimates_of(analysis: Analysis, paper: bool, request: AskRequest) -> Estimates:
    """Report the estimated cost of judging, grading, and writing documents and variants.

    Returns the estimates for judging. Nothing is sent, and no model is needed.
    """
    with model_access(request, is_needed=False) as access:
        catalog, links = analysis.catalog, constraints(analysis.catalog, ())
        clusters = plan_merge(analysis, (), PlanConfig()).clusters
        estimates = {
            "judge": judging_estimates(analysis, links, paper, *access.unsent),
            "document": question_estimates(
                partial(ask_for_documents, catalog, clusters), *access.unsent
            ),
            "quality": question_estimates(partial(grade_tools, catalog), *access.unsent),
            "variants": question_estimates(
                partial(variants_of_model, catalog.tools), *access.unsent
            ),
        }
        for kind, one in estimates.items():
            _tell_estimates(kind, one, access.endpoint.concurrency)
    return estimates["judge"]


def tell_cost(
    kind: str, ask: Callable[[Asker], object], request: AskRequest, analysis: Analysis | None = None
) -> None:
    """Report the estimated cost of the questions that ``ask`` asks; nothing is sent."""
    with model_access(request) as access:
        estimates = question_estimates(ask, *access.unsent, analysis)
        _tell_estimates(kind, estimates, access.endpoint.concurrency)


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """A model at an endpoint, with the ledger of its answers and the limits of one run.

    ``place`` says where the ledger is stored.
    """

    endpoint: Endpoint
    model: EndpointModel
    ledger: Ledger
    terms: Terms
    place: str

    @property
    def unsent(self) -> tuple[ChatModel, Ledger, Prices | None]:
        """What an estimate needs: the model without its key, the ledger and the prices."""
        return model_without_key(self.endpoint), self.ledger, self.endpoint.prices


@contextmanager
def model_access(request: AskRequest, is_needed: bool = True) -> Iterator[ModelAccess]:
    """Access to the model for one run.

    Raises ``ConfigError`` if a model is needed and none is chosen.
    """
    # Only commands that ask a model need the packages of the extra `llm`.
    from toolscope_core.llm.endpoints import Endpoints
    from toolscope_core.store.engine import Store
    from toolscope_core.store.runs import StoredLedger

    settings = read_environment()
    with closing(Store(settings.store_url)) as store:
        endpoint = _endpoint(request, settings, Endpoints(settings, store), is_needed)
        model = EndpointModel(endpoint, key_for(endpoint.origin, settings.keys))
        budget = RunBudget(endpoint.budget, endpoint.prices)
        terms = Terms(uuid.uuid4().hex, budget, endpoint.concurrency, endpoint.most_tokens)
        yield ModelAccess(endpoint, model, StoredLedger(store), terms, str(store.place))


@contextmanager
def asking(request: AskRequest) -> Iterator[tuple[Endpoint, ModelRequests]]:
    """The model requests of one command.

    At the end, raises ``PausedError`` or ``ModelStopError`` if questions are still open. Exits with
    1 if too many answers are unusable, or if a replayed file lacks an answer.
    """
    file = _answer_file(request)
    if file is not None and request.replay:
        request = _as_recorded(request, file)
    with model_access(request) as access:
        ledger, terms = (None, None) if request.replay else (access.ledger, access.terms)
        if file is None:
            asker = ModelRequests(access.model, access.ledger, access.terms, progress())
        else:
            asker = FileRequests(access.model, ledger, terms, progress(), file)
        yield access.endpoint, asker
        if file is not None and request.replay:
            fail_for(file.open_in_words)
        elif file is not None:
            file.write(is_whole=asker.state == "done")
        hint = (
            f"the answers so far are saved in {access.place}; run the same command again to "
            "continue"
        )
    if asker.state == "paused":
        raise PausedError(f"paused: {asker.message}; {hint}")
    if asker.state == "stopped":
        raise ModelStopError(f"{asker.message}; {hint}")
    fail_for(asker.too_many_unusable)


def _answer_file(request: AskRequest) -> AnswerFile | None:
    """The answer file of this command, which all its questions share."""
    if request.answers is None:
        if request.replay:
            raise ConfigError("--replay reads the answers from a file; name it with --answers")
        return None
    place = request.answers
    place.file = place.file or AnswerFile(place.path, is_required=request.replay)
    return place.file


def _as_recorded(request: AskRequest, file: AnswerFile) -> AskRequest:
    """The request, with model settings that are missing taken from the file.

    The environment has priority over the file.
    """
    line = next(iter(file.lines.values()), None)
    if line is None:
        return request
    settings, place = read_environment(), f"{line.origin}{line.parameters.get('path', USUAL_PATH)}"
    return replace(
        request,
        model=request.model or settings.model or line.model,
        base_url=request.base_url or settings.base_url or place,
        temperature=line.parameters.get("temperature")
        if request.temperature is None
        else request.temperature,
        reasoning=request.reasoning or line.parameters.get("reasoning"),
        prompts=request.prompts or line.parameters.get("prompts"),
    )


def _endpoint(
    request: AskRequest, settings: Settings, endpoints: "Endpoints", is_needed: bool
) -> Endpoint:
    saved = endpoints.get()
    base_url = request.base_url or (saved.base_url if saved else settings.base_url)
    model = request.model or (saved.model if saved else settings.model)
    if not base_url or not model:
        if is_needed:
            raise ConfigError(_NOBODY)
        return request.applied(Endpoint("http://localhost", "any model"))
    if saved is None or (saved.base_url, saved.model) != (base_url, model):
        saved = endpoints.priced(Endpoint(base_url, model))
    return request.applied(saved)


def _tell_estimates(kind: str, estimates: Estimates, concurrency: int) -> None:
    """Report the cost of asking, with one line per task, and the time."""
    for task, one in estimates.tasks.items():
        cost = "" if one.cost is None else f", a cost of at most {one.cost:.2f}"
        say(
            f"{kind:8} {task}: {quantity(one.questions - one.reused, 'question')} in "
            f"{quantity(one.calls, 'call')}, {one.reused:,} known; about {one.tokens_in:,} tokens "
            f"in, at most {one.tokens_out:,} out{cost}"
        )
    if estimates.calls:
        say(f"{kind:8} time: {estimates.time_in_words(concurrency)}")
