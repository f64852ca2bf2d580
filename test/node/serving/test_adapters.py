"""What stands in front of llama.cpp where a model has adapters (runtimes/llamacpp/adapters.py), with a stand-in behind it."""

import asyncio
import http.client
import importlib.util
import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SOURCE = Path(__file__).parents[3] / "runtimes" / "llamacpp" / "adapters.py"


def load():
    spec = importlib.util.spec_from_file_location("adapters", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Inner(BaseHTTPRequestHandler):
    """Answers with what it was asked."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class FrontTest(unittest.TestCase):
    def setUp(self):
        self.inner = ThreadingHTTPServer(("127.0.0.1", 0), Inner)
        self.inner.daemon_threads = True
        threading.Thread(target=self.inner.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(self.inner.server_close)
        self.addCleanup(self.inner.shutdown)
        ready, self.ports = threading.Event(), []
        threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True).start()
        ready.wait()
        self.addCleanup(lambda: self.loop.call_soon_threadsafe(self.ended.set))

    async def _serve(self, ready):
        self.loop, self.ended = asyncio.get_running_loop(), asyncio.Event()
        front = load().Front(self.inner.server_address, "base", ["one", "other"])
        server = await asyncio.start_server(front._accept, "127.0.0.1", 0)
        self.ports.append(server.sockets[0].getsockname()[1])
        ready.set()
        await self.ended.wait()
        server.close()

    def ask(self, body):
        line = http.client.HTTPConnection("127.0.0.1", self.ports[0], timeout=30)
        self.addCleanup(line.close)
        line.request("POST", "/v1/completions", body)
        answer = line.getresponse()
        return answer.status, answer.read()

    def test_the_name_becomes_the_number_and_a_callers_own_choice_of_numbers_does_not_count(self):
        own = [{"id": 1, "scale": 9.0}]
        status, said = self.ask(json.dumps({"model": "one", "lora": own}))
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(said)["lora"], [{"id": 0, "scale": 1.0}, {"id": 1, "scale": 0.0}])
        self.assertEqual(self.ask(json.dumps({"model": "none", "lora": own}))[0], 404)
        self.assertEqual(self.ask(b"no JSON"), (200, b"no JSON"))

    def test_what_python_does_not_read_of_json_is_refused_with_an_answer(self):
        # A connection that ends without one counts against the server, which then gets no more requests.
        for name, value in [("deep", "[" * 200_000 + "]" * 200_000), ("long", "1" * 5000)]:
            with self.subTest(name):
                body = f'{{"model": "none", "lora": [{{"id": 0, "scale": 9}}], "x": {value}}}'
                status, said = self.ask(body)
                self.assertEqual((status, json.loads(said)["error"]["type"]), (400, "invalid_request_error"))


if __name__ == "__main__":
    unittest.main()
