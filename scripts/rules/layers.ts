/** The arrows of architecture.md as data: who may import whom in src, and which folder owns which package. */

/** From the ground up: a folder of src/lib imports folders of lower layers, and of its own layer through index.ts. */
export const LAYERS: readonly (readonly string[])[] = [
  ['base'],
  ['document', 'protocol', 'chart', 'chain'],
  ['manifest', 'rack', 'recipe', 'topology', 'placement', 'fairness'],
  ['plan', 'host', 'downloads', 'route', 'ssh', 'artifact', 'tracking', 'background', 'reboot', 'attest', 'login'],
  ['image', 'volume', 'bucket', 'candidates'],
  [
    'local',
    'nodes',
    'enroll',
    'install',
    'project',
    'workspace',
    'preflight',
    'train',
    'reservation',
    'runs',
    'model',
    'lineage',
    'endpoint',
    'head',
    'gpu',
    'sweep',
    'overview',
    'usage',
    'access',
    'bundle',
    'ssh-host',
    'share',
    'data',
    'notebook',
    'board',
    'history',
    'monitor',
    'page',
    'people',
    'audit',
    'quota',
    'holding',
  ],
]

/**
 * The same for the rooms of src/cli: what draws, what all commands have, then the topics. A room imports rooms of lower
 * layers only.
 */
export const CLI_LAYERS: readonly (readonly string[])[] = [
  ['terminal'],
  ['progress'],
  ['errors'],
  ['base', 'chart'],
  [
    'rack',
    'runs',
    'gpu',
    'model',
    'endpoint',
    'head',
    'local',
    'project',
    'tracking',
    'bundle',
    'share',
    'monitor',
    'people',
  ],
  ['train', 'workspace', 'usage', 'audit', 'quota'],
  ['check', 'sweep', 'status', 'top', 'data', 'notebook', 'board', 'lineage'],
]

/** Everything below src that may import the package, by the start of its path. */
export const PACKAGE_OWNERS: Readonly<Record<string, readonly string[]>> = {
  '@oclif/core': ['src/commands/', 'src/cli/'],
  '@inquirer/prompts': ['src/cli/base/prompt.ts'],
  chalk: ['src/cli/terminal/print.ts'],
  listr2: ['src/cli/progress/'],
  execa: [
    'src/lib/artifact/',
    'src/lib/local/',
    'src/lib/train/',
    'src/lib/workspace/',
    'src/lib/head/',
    'src/lib/project/',
  ],
  fastify: ['src/lib/head/service/'],
  'openid-client': ['src/lib/head/service/people/'],
  ldapts: ['src/lib/head/service/people/'],
  '@fastify/reply-from': ['src/lib/head/service/'],
  '@peculiar/x509': ['src/lib/head/service/tls/'],
  'reflect-metadata': ['src/lib/head/service/tls/'],
  ignore: ['src/lib/artifact/', 'src/lib/workspace/'],
  // Bundles the head service on the spot where flexrack runs from its sources.
  rolldown: ['src/lib/head/'],
  speedscope: ['src/lib/runs/'],
  'smol-toml': ['src/lib/workspace/'],
  'ssh-config': ['src/lib/ssh/'],
  ssh2: ['src/lib/ssh/', 'src/lib/local/'],
  tar: ['src/lib/artifact/'],
  undici: [
    'src/lib/tracking/http.ts',
    'src/lib/head/service/gateway/answering.ts',
    'src/lib/head/service/gateway/connector.ts',
    'src/lib/head/service/gateway/model-server.ts',
    'src/lib/head/service/people/oidc-client.ts',
  ],
  yaml: ['src/lib/document/', 'src/lib/manifest/', 'src/lib/rack/', 'src/lib/monitor/'],
  zod: ['src/lib/document/', 'src/lib/manifest/', 'src/lib/rack/', 'src/lib/recipe/'],
}

/**
 * Programs of their own, and what of lib they may import: what both sides of their interface speak. Nobody imports
 * them.
 */
export const OWN_PROCESSES: Readonly<Record<string, readonly string[]>> = {
  'src/lib/head/service/': [
    'src/lib/base/index.ts',
    'src/lib/chain/index.ts',
    'src/lib/fairness/index.ts',
    'src/lib/head/types.ts',
    'src/lib/protocol/index.ts',
  ],
}
