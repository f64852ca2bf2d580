import {z} from 'zod'
import {sweepSeconds} from './duration.ts'

/** Set by flexrack for every rank; a value of the user's own would be lost or do harm. */
const OURS =
  /^(?:FLEXRACK_.*|RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|MASTER_ADDR|MASTER_PORT|MLFLOW_TRACKING_URI|MLFLOW_TRACKING_TOKEN|MLFLOW_RUN_ID|MLFLOW_EXPERIMENT_ID)$/

/** Texts that are taken as written: `THREADS: 4` is fine without quotes (ReadOptions.asText). */
export const asWritten = z.string().meta({written: 'as-is'})

export const env = (what: string) =>
  z
    .record(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be letters, digits and underscores, and not begin with a digit')
        .refine((name) => !OURS.test(name), {message: 'is set by flexrack itself', when: () => true}),
      asWritten.refine((value) => !value.includes('\0'), 'must not contain NUL'),
    )
    .default({})
    .describe(what)

export const noLineBreak = (text: string) => !/[\r\n\0]/.test(text)

const every = z
  .string()
  .refine((text) => {
    const seconds = sweepSeconds(text)
    return seconds !== undefined && seconds >= 5 && seconds <= 86_400
  }, 'must be a time from 5s to 1d, such as 10m')
  .meta({written: 'as-is'})

const size = z.string().regex(/^[1-9][0-9]{0,8}\s*[KMGT](i?B)?$/i, 'must be a size such as 64GiB')

export const workspace = z
  .strictObject({
    python: z
      .union([
        z.string().min(1),
        z.strictObject({
          version: z
            .string()
            .regex(/^3\.\d{1,2}$/, 'must be a version such as "3.12", in quotes')
            .optional()
            .describe(
              'Python of the environment: python3.12 of the node, else one that uv installs below its environments; by default its python3.',
            )
            .meta({examples: ['3.12']}),
          requirements: z.string().min(1).optional().describe('Requirements file, as above.'),
        }),
      ])
      .optional()
      .describe(
        'Requirements file of pip, or pyproject.toml, relative to the project folder; pyproject.toml[plot,dev] takes extras and dependency groups along; a project with a build system or programs is installed itself, editable. The environment is built once per content and node, then reused. A lock file (uv.lock beside pyproject.toml, or what `flexrack lock` writes) decides its versions. Without it the environment has the bare Python of the node.',
      )
      .meta({
        examples: ['requirements.txt', 'pyproject.toml[plot]', {version: '3.12', requirements: 'requirements.txt'}],
      }),
    sync: z
      .strictObject({
        exclude: z
          .array(z.string().min(1).refine(noLineBreak, 'must be one line'))
          .max(1000)
          .default([])
          .describe(
            "Patterns, as in .gitignore, of what is not sent to the nodes, besides the project's .gitignore files.",
          )
          .meta({examples: [['data/', '*.pt']]}),
      })
      .prefault({})
      .describe('What is sent to the nodes.'),
    forward: z
      .array(z.int().min(1).max(65535))
      .max(100)
      .default([])
      .describe('Ports of the node that `flexrack workspace forward` forwards to this machine.')
      .meta({examples: [[8888]]}),
    image: z
      .string()
      .min(1)
      .max(1000)
      .refine((text) => noLineBreak(text) && !/\s/.test(text), 'must be one word')
      .optional()
      .describe(
        'Container image in which everything of the workspace runs, by an ordinary account and without a daemon: `registry/name:tag`, best with `@sha256:...` (a tag alone is resolved once, and flexrack.lock keeps what it stood for), `oci:FOLDER[:TAG]` or `oci-archive:FILE[:TAG]`. workspace.python is then made with the Python of the image, on top of its packages.',
      )
      .meta({examples: ['nvcr.io/nvidia/pytorch:25.01-py3', 'oci:images/torch'], written: 'as-is'}),
    autosave: z
      .union([
        every,
        z.strictObject({
          every: every.describe('Time between two saves, as above.'),
          largest: size
            .optional()
            .describe('Files that were made on the node and are larger are not saved.')
            .meta({examples: ['64MiB'], written: 'as-is'}),
        }),
      ])
      .optional()
      .describe(
        "The node saves the workspace by itself, so often and only what has changed, whether or not anybody is connected: `10m`, or what it may save. What .gitignore files and sync.exclude name is not saved, nor are data and large files of the node's own. `workspace history` shows what was saved, `workspace restore` brings it back, and every run names the snapshot of what it ran.",
      )
      .meta({examples: ['10m', {every: '10m', largest: '64MiB'}]}),
    isolate: z
      .union([
        z.boolean(),
        z.strictObject({
          network: z
            .enum(['none', 'host'])
            .default('host')
            .describe('`none`: the program sees no network at all, not even that of its node.'),
          memory: size
            .optional()
            .describe(
              'Memory that it may use, all of its processes together where the node can hold that (`check` says so).',
            )
            .meta({examples: ['64GiB'], written: 'as-is'}),
          pids: z.int().min(8).max(4_000_000).optional().describe('How many processes and threads there may be of it.'),
          cpus: z.number().min(0.1).max(4096).optional().describe('How much CPU it may use, in CPUs.'),
        }),
      ])
      .optional()
      .describe(
        'Programs of the workspace run in a sandbox: they see no home, no other processes and a /tmp of their own, and write to the workspace and their outputs alone. `true`, or what they may have.',
      )
      .meta({examples: [true, {network: 'none', memory: '16GiB', pids: 4096}]}),
    env: env('Environment variables of everything that runs in the workspace.'),
  })
  .prefault({})
  .describe('How the project looks on a node.')
