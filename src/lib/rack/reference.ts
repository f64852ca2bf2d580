import {makeReference, type Reference} from '../document/index.ts'
import {rackSchema} from './schema.ts'

const SCHEMA_FILE = 'rack.schema.json'

const INTRO = `
# The rack file

A rack is a named set of nodes. Its file is \`~/.config/flexrack/racks/NAME.yaml\` (under \`$XDG_CONFIG_HOME\` or
\`$FLEXRACK_HOME/config\` where these are set), or any file given as \`--rack FILE\`. \`flexrack rack add\` writes it,
\`flexrack local up\` writes the one called \`local\`; it may be edited by hand, comments are kept.

\`\`\`yaml
# yaml-language-server: $schema=/path/to/flexrack/schema/${SCHEMA_FILE}
nodes:
  - name: gpu-1
    host: 10.0.0.11
    labels: {gpu: a100}
  - name: gpu-2
    host: gpu2                    # a Host of ~/.ssh/config
    labels: {gpu: a100}
head: {node: gpu-1}
\`\`\`

Which rack a command uses: \`--rack\`, else \`FLEXRACK_RACK\`, else \`rack:\` of the manifest, else the only one there is.
\`status\`, \`gpu list\`, \`runs list\` and \`usage\` answer about several: \`--rack lab,cloud\`, or \`--rack all\`. \`train --rack
lab,cloud\` trains on the first that can start it now.

Nodes are selected with \`--on\`: names, globs (\`gpu-*\`), labels (\`gpu=a100\`), \`all\`, several separated by commas.
`

/** docs/rack-file.md and schema/rack.schema.json, made from the one schema. */
export function rackReference(): Reference {
  return makeReference(rackSchema, {intro: INTRO, top: 'Keys', id: SCHEMA_FILE})
}
