import {INFER_HANDLER} from './infer-handler.ts'

/** A model server that is there at once: Open Inference v2 by Python's standard library. Its input is how long it takes. */
export const SCALED_SERVER = `${INFER_HANDLER}
import os, sys, time

name, host, port, path = sys.argv[1:]
tensor = {"name": "x", "datatype": "FP32", "shape": [1]}

class Handler(Answers):
    def do_GET(self):
        self.answer({"name": name, "inputs": [tensor], "outputs": [{**tensor, "name": "y"}]})

    def do_POST(self):
        given = self.given()
        time.sleep(given["data"][0] / 1000)
        self.answer({"model_name": name, "outputs": [{**given, "name": "y"}], "parameters": {"pid": os.getpid()}})

class Server(ThreadingHTTPServer):
    request_queue_size = 128

Server((host, int(port)), Handler).serve_forever()
`
