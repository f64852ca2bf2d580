/** What model servers of tests start with, in Python's standard library: `Answers`, a handler of HTTP for Open Inference v2. */
export const INFER_HANDLER = `
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def given(self):
        return json.loads(self.rfile.read(int(self.headers["content-length"])))["inputs"][0]

    def log_message(self, *words):
        pass
`
