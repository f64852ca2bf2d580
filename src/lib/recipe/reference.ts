import {makeReference, type Reference} from '../document/index.ts'
import {recipeSchema} from './schema.ts'

const SCHEMA_FILE = 'recipe.schema.json'

const INTRO = `
# Runtimes: how a model server is described

\`flexrack endpoint deploy\` computes nothing itself: a model server that exists does. How one is installed, started, found ready
and stopped is a recipe, \`runtimes/NAME/recipe.yaml\`, with a pinned requirements file beside it. An endpoint names its recipe with
\`runtime: NAME\` in flexrack.yaml or \`--runtime NAME\`.

Two come with flexrack. \`onnx\`: [MLServer](https://github.com/SeldonIO/MLServer) with a small class on ONNX Runtime. \`mlflow\`: MLflow's own model server
for models in [MLflow's format](https://mlflow.org/docs/latest/ml/model/), of any flavour, in the environment that they were logged with. Where nobody names
a runtime, a model in MLflow's format gets \`mlflow\` unless it was logged as ONNX, and any other gets \`onnx\`. Recipes of your own go to
\`~/.config/flexrack/runtimes/NAME/\` (or \`$FLEXRACK_HOME/config/runtimes/NAME/\`) and win over one that comes with flexrack.

What a server must do: speak one of three protocols over HTTP (\`protocol\`); run in the foreground; end on SIGTERM after answering what it has. It binds \`{host}\` and
nothing else, which is loopback: on other nodes than the head's a front with TLS stands before it and lets only the gateway in. It asks for no token
itself, so other accounts of its node can call it.

| \`protocol\` | what it is | what the gateway lets through, and nothing else |
|---|---|---|
| \`v2\` | the [Open Inference Protocol v2](https://github.com/kserve/open-inference-protocol) for the model \`{model}\`, with its inputs and outputs in \`GET /v2/models/{model}\` | \`v2\`; \`v2/models/{model}[/versions/V]\` with \`ready\`, \`infer\`, \`infer_stream\`, \`generate\`, \`generate_stream\`; \`v2/health/live\` and \`ready\` |
| \`openai\` | [OpenAI's API](https://platform.openai.com/docs/api-reference), as vLLM and llama.cpp speak it, for the model \`{model}\` | \`v1/models\`, \`chat/completions\`, \`completions\`, \`embeddings\`, \`responses\`, \`rerank\`, \`score\`, \`tokenize\` |
| \`mlflow\` | that of MLflow's server | \`invocations\`, \`ping\`, \`version\` |

\`health\` below an endpoint's address asks \`ready.path\` of a server: would a prediction be answered? Answers that stream are passed on as they come, and a
caller that goes away ends the request at the server. Errors of the gateway have the protocol's own shape. Clients of OpenAI take \`ADDRESS/v1\` as their base
and the endpoint's token as their key. What a server offers besides,
such as loading and unloading models, metrics or a gRPC of its own, is better off in the server, too, as \`onnx\` has it (\`serve.py\`): other programs on the node reach it directly.

Tensors of the Open Inference Protocol may travel in binary behind the JSON ([Triton's extension](https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_binary_data.md)),
packed with gzip or deflate: the gateway changes no byte, and \`onnx\` understands and answers both. NaN, and large tensors, are better off in binary. The official clients
work unmodified: tritonclient's takes \`HOST:PORT/endpoints/NAME\` as its url, and the token in \`headers={"Authorization": "Bearer ..."}\` of each call.

Its gRPC client (\`inference.GRPCInferenceService\`) takes \`HOST:PORT\` of the same address, \`ssl=True\`, the rack's certificates as \`root_certificates\` (\`endpoint show\` names the file),
and the token as metadata, \`headers={"authorization": "Bearer ..."}\`. The gateway answers it from the same servers over HTTP: health, metadata, \`ModelInfer\`, and \`ModelStreamInfer\` with
one answer to each request, messages of 128 MiB at most. The server has to know tensors in binary, as \`onnx\` and Triton do.

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

## Which file is the model

The file of a version that ends in \`model.suffix\` is the model. Of a model logged as a folder all files travel; of a single artifact also the
weights beside it whose names begin like it (\`model.onnx.data\`, \`model.onnx_data\`, \`model.data\`).
`

/** docs/runtimes.md and schema/recipe.schema.json, made from the one schema. */
export function recipeReference(): Reference {
  return makeReference(recipeSchema, {intro: INTRO, top: 'Keys', id: SCHEMA_FILE})
}
