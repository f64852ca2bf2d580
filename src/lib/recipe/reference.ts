import {makeReference, type Reference} from '../document/index.ts'
import {recipeSchema} from './schema.ts'

const SCHEMA_FILE = 'recipe.schema.json'

const INTRO = `
# Runtimes: how a model server is described

\`flexrack endpoint deploy\` computes nothing itself: a model server that exists does. How one is installed, started, found ready
and stopped is a recipe, \`runtimes/NAME/recipe.yaml\`, with a pinned requirements file beside it. An endpoint names its recipe with
\`runtime: NAME\` in flexrack.yaml or \`--runtime NAME\`.

\`onnx\` comes with flexrack: [MLServer](https://github.com/SeldonIO/MLServer) with a small class on ONNX Runtime. Recipes of your own go to
\`~/.config/flexrack/runtimes/NAME/\` (or \`$FLEXRACK_HOME/config/runtimes/NAME/\`) and win over one that comes with flexrack.

What a server must do: speak the [Open Inference Protocol v2](https://github.com/kserve/open-inference-protocol) over HTTP for the model \`{model}\`,
with its inputs and outputs in \`GET /v2/models/{model}\`; run in the foreground; end on SIGTERM after answering what it has. It binds \`{host}\` and
nothing else, which is loopback: on other nodes than the head's a front with TLS stands before it and lets only the gateway in. It asks for no token
itself, so other accounts of its node can call it.

Through the gateway callers get to \`health/live\`, \`health/ready\` (both ask \`models/{model}/ready\`: would a prediction be answered?) and
\`models/{model}[/versions/V]\` with \`ready\`, \`infer\`, \`infer_stream\`, \`generate\` and \`generate_stream\`; to nothing else. What a server offers besides,
such as loading and unloading models, metrics or gRPC, is better off in the server, too, as \`onnx\` has it (\`serve.py\`): other programs on the node reach it directly.

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

The file of a version that ends in \`model.suffix\` is the model. Of a model logged as a folder all files travel; of a single artifact also the
weights beside it whose names begin like it (\`model.onnx.data\`, \`model.onnx_data\`, \`model.data\`).
`

/** docs/runtimes.md and schema/recipe.schema.json, made from the one schema. */
export function recipeReference(): Reference {
  return makeReference(recipeSchema, {intro: INTRO, top: 'Keys', id: SCHEMA_FILE})
}
