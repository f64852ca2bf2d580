/** A model server that is there at once: Open Inference v2 by Python's standard library. Its input is how long it takes. */
export const SCALED_SERVER = `
import json, os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, host, port, path = sys.argv[1:]
tensor = {"name": "x", "datatype": "FP32", "shape": [1]}

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer({"name": name, "inputs": [tensor], "outputs": [{**tensor, "name": "y"}]})

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["content-length"])))["inputs"][0]
        time.sleep(given["data"][0] / 1000)
        self.answer({"model_name": name, "outputs": [{**given, "name": "y"}], "parameters": {"pid": os.getpid()}})

    def log_message(self, *words):
        pass

class Server(ThreadingHTTPServer):
    request_queue_size = 128

Server((host, int(port)), Handler).serve_forever()
`
