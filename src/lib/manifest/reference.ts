import {makeReference, type Reference} from '../document/index.ts'
import {manifestSchema} from './schema.ts'

const SCHEMA_FILE = 'flexrack.schema.json'

const INTRO = `
# The manifest: flexrack.yaml

A project is a folder with a \`flexrack.yaml\`. Only \`name\` is needed; everything else has a default.

\`\`\`yaml
# yaml-language-server: $schema=/path/to/flexrack/schema/${SCHEMA_FILE}
name: digits
workspace:
  python: requirements.txt        # built once per content and node, then reused
  sync: {exclude: [data/, "*.pt"]}
gpus: {count: 1, memory: 8GiB}    # what \`flexrack attach\` asks for
train:
  command: train.py --epochs 5
  nodes: 2
  processes_per_node: 2
  restarts: 1
  outputs: [model.onnx, checkpoints/]
endpoints:
  digits: {model: digits@production}
\`\`\`

\`flexrack check\` finds what is wrong in it, all at once, with line and column. The first line of the example makes editors
do the same while you type; the path is that of your installation of flexrack.
`

/** docs/manifest.md and schema/flexrack.schema.json, made from the one schema. */
export function manifestReference(): Reference {
  return makeReference(manifestSchema, {intro: INTRO, top: 'Keys', id: SCHEMA_FILE})
}
