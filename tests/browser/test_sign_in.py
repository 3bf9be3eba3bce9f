"""Signing in at an OpenID provider of our own, over real HTTP; decisions carry who is signed in."""

import re
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey
from playwright.sync_api import expect

from tests.browser.conftest import free_port, lone_tab, running
from tests.support.loopback import LoopbackReplies, LoopbackServer
from toolscope_core.store.catalog_rows import list_catalogs
from toolscope_core.store.decision_rows import read_log
from toolscope_core.store.engine import Store

PERSON = {"sub": "17", "name": "Ann <b>Other</b>", "email": "ann@shop.example"}


@contextmanager
def provider():
    """A provider that knows one person, and lets her in without a question."""
    key = RSAKey.generate_key(2048, {"kid": "one"})
    nonces = {}

    class Provider(LoopbackReplies, BaseHTTPRequestHandler):
        def do_GET(self):
            path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
            if path == "/keys":
                self.reply(200, {"keys": [key.as_dict(private=False)]})
            elif path == "/authorize":
                nonces["code"] = query["nonce"][0]
                back = query["redirect_uri"][0]
                self.reply(302, location=f"{back}?code=code&state={query['state'][0]}")
            else:
                origin = self.server.origin
                about = {
                    "issuer": origin,
                    "authorization_endpoint": f"{origin}/authorize",
                    "token_endpoint": f"{origin}/token",
                    "jwks_uri": f"{origin}/keys",
                    "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["RS256"],
                }
                self.reply(200, about)

        def do_POST(self):
            self.content()
            now = int(time.time())
            claims = {**PERSON, "iss": self.server.origin, "aud": "toolscope", "iat": now}
            claims |= {"exp": now + 600, "nonce": nonces["code"]}
            token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)
            answer = {"access_token": "a", "token_type": "Bearer", "expires_in": 600}
            self.reply(200, {**answer, "id_token": token})

    with LoopbackServer(Provider) as server:
        yield server.origin


def test_nothing_is_shown_before_signing_in_and_decisions_carry_who_did(chromium, tmp_path):
    port = free_port()
    with provider() as origin:
        secrets = tmp_path / "secrets.toml"
        secrets.write_text(
            f"""[auth]
redirect_uri = "http://127.0.0.1:{port}/oauth2callback"
cookie_secret = "a secret of this test alone, long enough"
client_id = "toolscope"
client_secret = "no secret"
server_metadata_url = "{origin}/.well-known/openid-configuration"
"""
        )
        with (
            running(tmp_path, "ui", f"--secrets.files={secrets}", port=port) as server,
            lone_tab(chromium) as page,
        ):
            page.goto(f"{server.url}/review?catalog=Example")
            sign_in = page.get_by_role("button", name="Sign in")
            expect(sign_in).to_be_visible()
            expect(page.get_by_text("Example")).to_have_count(0)
            sign_in.click()
            expect(page.get_by_text("Signed in as Ann <b>Other</b>")).to_be_visible()
            expect(page.get_by_label("Your name")).to_have_count(0)
            page.goto(f"{server.url}/review?catalog=Example")
            page.get_by_role("button", name=re.compile("^Accept(?! safe)")).first.click()
            expect(page.get_by_text(re.compile("Accepted: ")).last).to_be_visible()
            store = Store(f"sqlite:///{tmp_path / 'store.db'}")
            *_, made = read_log(store, list_catalogs(store)[0].id)
            store.close()
            assert made.reviewer == "ann@shop.example"
            page.get_by_role("button", name="Sign out").click()
            expect(sign_in).to_be_visible()
