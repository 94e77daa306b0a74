"""An OAuth 1.0a provider on loopback, based on oauthlib, which checks signatures, nonces, timestamps, callbacks and
verifiers.

Prints its port as a line of JSON, and runs until its standard input is closed.
"""

import json
import sys
import threading
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from oauthlib.oauth1 import RequestValidator, WebApplicationServer
from oauthlib.oauth1.rfc5849.errors import OAuth1Error

CLIENT_KEY = "client-key-of-the-tests"
CLIENT_SECRET = "client secret & more"
CALLBACK = "https://valetkey.example/oauth/callback/"
# The public origin of the provider, if it is not the address at which it listens.
NAME = sys.argv[1] if len(sys.argv) > 1 else None


class Store(RequestValidator):
    """Stores everything in memory.

    For an unknown client or token it returns a dummy secret, so that oauthlib takes the same time as for a known one.
    """

    enforce_ssl = False
    dummy_client = "dummy-client-of-nobody"
    dummy_request_token = "dummy-request-token-x"
    dummy_access_token = "dummy-access-token-xx"
    realms = ["boards"]
    # By default the library allows only letters and digits.
    safe_characters = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")

    def __init__(self):
        super().__init__()
        self.temporary = {}
        self.tokens = {}
        self.nonces = set()

    def validate_timestamp_and_nonce(self, client_key, timestamp, nonce, request, request_token=None, access_token=None):
        entry = (client_key, timestamp, nonce, request_token or access_token)
        if entry in self.nonces:
            return False
        self.nonces.add(entry)
        return True

    def validate_client_key(self, client_key, request):
        return client_key == CLIENT_KEY

    def get_client_secret(self, client_key, request):
        return CLIENT_SECRET if client_key == CLIENT_KEY else "nothing"

    def validate_request_token(self, client_key, token, request):
        return token in self.temporary

    def get_request_token_secret(self, client_key, token, request):
        return self.temporary.get(token, {}).get("secret", "nothing")

    def validate_access_token(self, client_key, token, request):
        return token in self.tokens

    def get_access_token_secret(self, client_key, token, request):
        return self.tokens.get(token, {}).get("secret", "nothing")

    def validate_redirect_uri(self, client_key, redirect_uri, request):
        return redirect_uri is not None and redirect_uri.startswith(CALLBACK)

    def get_redirect_uri(self, token, request):
        return self.temporary[token]["callback"]

    def get_default_realms(self, client_key, request):
        return ["boards"]

    def get_realms(self, token, request):
        return ["boards"]

    def validate_requested_realms(self, client_key, realms, request):
        return all(realm in self.realms for realm in realms)

    def validate_realms(self, client_key, token, request, uri=None, realms=None):
        return True

    def verify_realms(self, token, realms, request):
        return True

    def verify_request_token(self, token, request):
        return token in self.temporary

    def validate_verifier(self, client_key, token, verifier, request):
        expected = self.temporary.get(token, {}).get("verifier")
        return expected is not None and verifier == expected

    def save_request_token(self, token, request):
        self.temporary[token["oauth_token"]] = {"secret": token["oauth_token_secret"], "callback": request.redirect_uri}

    def save_verifier(self, token, verifier, request):
        self.temporary[token]["verifier"] = verifier["oauth_verifier"]

    def save_access_token(self, token, request):
        self.tokens[token["oauth_token"]] = {"secret": token["oauth_token_secret"], "user": "maria"}

    def invalidate_request_token(self, client_key, request_token, request):
        self.temporary.pop(request_token, None)


STORE = Store()
SERVER = WebApplicationServer(STORE)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args):
        pass

    def do_GET(self):
        self.answer()

    def do_POST(self):
        self.answer()

    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        uri = f"{NAME or 'http://' + self.headers['host']}{self.path}"
        routes = {
            "/request_token": self.credentials(SERVER.create_request_token_response),
            "/access_token": self.credentials(self.access_token),
            "/authorize": self.authorize,
            "/api": self.api,
        }
        try:
            status, headers, text = routes[urlsplit(self.path).path](uri, self.command, body, dict(self.headers))
        except OAuth1Error as error:
            status, headers, text = error.status_code, {}, error.urlencoded
        payload = (text or "").encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(payload))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    @staticmethod
    def credentials(endpoint):
        def call(uri, method, body, headers):
            answered, text, status = endpoint(uri, method, body, headers)
            return status, answered, text

        return call

    @staticmethod
    def access_token(uri, method, body, headers):
        return SERVER.create_access_token_response(uri, method, body, headers, credentials={"screen_name": "maria"})

    @staticmethod
    def authorize(uri, method, body, headers):
        """Returns the consent page for a GET. For a POST, redirects to the callback with the user's decision."""
        token = parse_qs(urlsplit(uri).query).get("oauth_token", [""])[0]
        if token not in STORE.temporary:
            return 400, {}, "unknown token"
        if method == "GET":
            page = f'<form method="post"><p>{escape(CLIENT_KEY)}</p><button name="choice" value="yes">Allow</button></form>'
            return 200, {"Content-Type": "text/html"}, page
        if parse_qs(body).get("choice") != ["yes"]:
            refusal = urlencode({"oauth_token": token, "oauth_problem": "permission_denied"})
            callback = STORE.temporary[token]["callback"]
            return 302, {"Location": f"{callback}{'&' if '?' in callback else '?'}{refusal}"}, ""
        answered, text, status = SERVER.create_authorization_response(uri, "POST", body, headers)
        return status, answered, text

    @staticmethod
    def api(uri, method, body, headers):
        valid, request = SERVER.validate_protected_resource_request(uri, method, body, headers, realms=["boards"])
        if not valid:
            return 401, {"WWW-Authenticate": 'OAuth realm="boards"'}, "{}"
        answer = {"user": STORE.tokens[request.resource_owner_key]["user"], "body": body}
        return 200, {"Content-Type": "application/json"}, json.dumps(answer)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"port": server.server_port}), flush=True)
sys.stdin.read()
