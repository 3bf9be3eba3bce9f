"""HTTP servers of a few lines, each in a thread of the test."""

import json
import sys
import threading
from http.server import ThreadingHTTPServer


class LoopbackServer(ThreadingHTTPServer):
    """Use as a context manager: it serves at ``origin`` until the end."""

    daemon_threads = True

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.origin = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self):
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request, client_address):
        """Clients that hang up, or are killed, are what these tests are about."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class LoopbackReplies:
    """What a ``BaseHTTPRequestHandler`` reads and sends, beside it in the bases of a handler."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def content(self):
        """What came in the request."""
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def reply(self, status, content=b"", content_type="application/json", **headers):
        """``content`` is bytes, a text, or a value that is sent as JSON."""
        if not isinstance(content, bytes):
            content = (content if isinstance(content, str) else json.dumps(content)).encode()
        headers = {"Content-Type": content_type, "Content-Length": str(len(content)), **headers}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)
