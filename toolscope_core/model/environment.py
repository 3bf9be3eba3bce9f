"""The only reader of the environment: storage locations, and keys with their origins."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlsplit

from toolscope_core.model.errors import ConfigError

OPENAI = "https://api.openai.com"

DEFAULT_PORTS = {"http": 80, "https": 443}

ADDRESS = "use one like https://api.openai.com/v1 or http://localhost:11434/v1"

VARIABLES = (
    "TOOLSCOPE_STORE_URL",
    "TOOLSCOPE_CACHE_DIR",
    "TOOLSCOPE_DATA",
    "TOOLSCOPE_BASE_URL",
    "TOOLSCOPE_MODEL",
    "TOOLSCOPE_EMBEDDINGS_MODEL",
    "TOOLSCOPE_VISITORS_START_SERVERS",
    "TOOLSCOPE_GATEWAY_TOKEN",
    "TOOLSCOPE_PROFILE_TOKENS",
    "TOOLSCOPE_API_KEY",
    "TOOLSCOPE_API_ORIGIN",
)
"""The names that are read."""
MODEL_KEY = "OPENAI_API_KEY"
"""The key of OpenAI's models, which is read too."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A secret that is sent to ``origin`` and nowhere else; it is never
    shown, stored or compared.
    """

    origin: str
    secret: str = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """Storage locations, the endpoint and its keys; see ``read_environment``.

    The store's URL may contain a password, so it is never shown. With ``visitors_start_servers``,
    anyone who reaches the app from another machine can run commands here.
    """

    store_url: str = field(repr=False)
    cache_dir: Path
    data_dir: Path
    token_cache: Path | None = None
    base_url: str = ""
    model: str = ""
    embeddings_model: str = ""
    visitors_start_servers: bool = False
    keys: tuple[ApiKey, ...] = ()
    gateway_token: str = field(default="", repr=False)
    profile_tokens: str = field(default="", repr=False)


def read_environment(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from ``TOOLSCOPE_STORE_URL``, ``TOOLSCOPE_CACHE_DIR``, ``TOOLSCOPE_DATA``,
    ``TOOLSCOPE_BASE_URL``, ``TOOLSCOPE_MODEL``, ``TOOLSCOPE_EMBEDDINGS_MODEL``,
    ``TOOLSCOPE_VISITORS_START_SERVERS`` (``1``), ``TOOLSCOPE_GATEWAY_TOKEN``,
    ``TOOLSCOPE_PROFILE_TOKENS`` and the keys (``read_keys``), and from tiktoken's
    ``TIKTOKEN_CACHE_DIR``.

    Defaults: ``sqlite:///store.db``, the user's cache directory, ``../shared/data``, none, no.
    """
    env = os.environ if environ is None else environ
    return Settings(
        store_url=env.get("TOOLSCOPE_STORE_URL") or "sqlite:///store.db",
        cache_dir=Path(env.get("TOOLSCOPE_CACHE_DIR") or user_cache(env)),
        data_dir=Path(env.get("TOOLSCOPE_DATA") or "../shared/data"),
        token_cache=Path(env["TIKTOKEN_CACHE_DIR"]) if env.get("TIKTOKEN_CACHE_DIR") else None,
        base_url=env.get("TOOLSCOPE_BASE_URL", ""),
        model=env.get("TOOLSCOPE_MODEL", ""),
        embeddings_model=env.get("TOOLSCOPE_EMBEDDINGS_MODEL", ""),
        visitors_start_servers=env.get("TOOLSCOPE_VISITORS_START_SERVERS", "") == "1",
        keys=read_keys(env),
        gateway_token=env.get("TOOLSCOPE_GATEWAY_TOKEN", "").strip(),
        profile_tokens=env.get("TOOLSCOPE_PROFILE_TOKENS", ""),
    )


def user_cache(environ: Mapping[str, str] | None = None) -> Path:
    """The user's cache folder, for files that can be made again; it may not exist yet."""
    env = os.environ if environ is None else environ
    return Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "toolscope"


def is_own_variable(name: str) -> bool:
    """Whether a variable belongs to this program; Windows allows names in any case."""
    return name.upper().startswith("TOOLSCOPE_")


def unused_variables(values: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence about each variable that is set but not used; it never contains a key's value."""
    unused = []
    for name in sorted(values):
        if is_own_variable(name) and name not in VARIABLES:
            near = get_close_matches(name.upper(), VARIABLES, 1, 0.75)
            remedy = f"did you mean {near[0]}?" if near else f"use one of {', '.join(VARIABLES)}"
            unused.append(f"{name} is set but not used: no setting has this name; {remedy}")
    address = values.get("TOOLSCOPE_API_ORIGIN") or values.get("TOOLSCOPE_BASE_URL") or ""
    if values.get("TOOLSCOPE_API_KEY", "").strip():
        try:
            origin_of(address)
        except ConfigError as error:
            why = str(error) if address else "it has no address"
            unused.append(
                f"TOOLSCOPE_API_KEY is set but not used: {why}; set TOOLSCOPE_API_ORIGIN to "
                "the address of its endpoint"
            )
    elif values.get("TOOLSCOPE_API_ORIGIN"):
        unused.append("TOOLSCOPE_API_ORIGIN is set but not used; set TOOLSCOPE_API_KEY too")
    visitors = values.get("TOOLSCOPE_VISITORS_START_SERVERS", "")
    if visitors not in ("", "0", "1"):
        unused.append(
            f"TOOLSCOPE_VISITORS_START_SERVERS is {visitors!r} and has no effect; set it to "
            "1, or leave it out"
        )
    return tuple(unused)


def read_keys(values: Mapping[str, str]) -> tuple[ApiKey, ...]:
    """The keys in the environment, or in a file of secrets with the same names.

    ``TOOLSCOPE_API_KEY`` belongs to the origin of ``TOOLSCOPE_API_ORIGIN``, or else of
    ``TOOLSCOPE_BASE_URL``. Without a usable address it is sent nowhere, and a call that lacks a key
    fails with the remedy. ``OPENAI_API_KEY`` belongs to OpenAI.
    """
    address = values.get("TOOLSCOPE_API_ORIGIN") or values.get("TOOLSCOPE_BASE_URL") or ""
    own = values.get("TOOLSCOPE_API_KEY", "").strip()
    openai = values.get(MODEL_KEY, "").strip()
    keys = [ApiKey(OPENAI, openai)] if openai else []
    with suppress(ConfigError):
        keys[:0] = [ApiKey(origin_of(address), own)] if own else []
    return tuple(keys)


def key_for(origin: str, keys: Sequence[ApiKey]) -> ApiKey:
    """The first key given for ``origin``; if there is none, a key with an empty secret."""
    return next((key for key in keys if key.origin == origin), ApiKey(origin, ""))


def origin_of(url: str) -> str:
    """Scheme, host and port of an address, in one spelling: ``https://api.openai.com``.

    Raises ``ConfigError`` if it is not an http address, or if it contains a password or a query,
    because addresses are shown and stored.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    plain = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in DEFAULT_PORTS or not host or not plain:
        shown = url.rsplit("@", maxsplit=1)[-1]
        raise ConfigError(f"the address {shown!r} cannot be used; {ADDRESS}")
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(f"the address of {host} contains a password or a query; {ADDRESS}")
    host = f"[{host}]" if ":" in host else host
    standard = port is None or port == DEFAULT_PORTS[parts.scheme]
    return f"{parts.scheme}://{host}" if standard else f"{parts.scheme}://{host}:{port}"
