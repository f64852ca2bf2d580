import {z} from 'zod'
import {isOrigin} from '../base/index.ts'
import {data, volumes} from './data.ts'
import {gpus, serverGpus} from './gpus.ts'
import {sweep} from './sweep-schema.ts'
import {train} from './train-schema.ts'
import {noLineBreak, workspace} from './workspace-schema.ts'

/** Names of projects, experiments' prefix, endpoints: safe in paths, URLs and run ids. */
const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?$/
const NAME_RULE =
  'must be 1 to 40 lower-case letters, digits, dots, dashes or underscores, and begin and end with a letter or digit'
const MODEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:@[A-Za-z][A-Za-z0-9._-]{0,99}|\/[1-9][0-9]{0,8})?$/

const tracking = z
  .strictObject({
    uri: z
      .string()
      .refine(
        isHttpUrl,
        'must be the URL of an MLflow server, http:// or https://, without user name and password in it',
      )
      .optional()
      .describe("An existing MLflow server. Without it runs are recorded on the rack's head, `flexrack head start`.")
      .meta({examples: ['https://mlflow.example.org']}),
    experiment: z
      .string()
      .min(1)
      .max(250)
      .refine(noLineBreak, 'must be one line')
      .optional()
      .describe("Name of the experiment; the project's name by default.")
      .meta({written: 'as-is'}),
  })
  .prefault({})
  .describe('Where runs are recorded.')

const endpoint = z
  .strictObject({
    model: z
      .string()
      .regex(MODEL, 'must be a model: name@alias, name/version, or name for the newest version')
      .describe('The model served: `name@alias`, `name/version`, or `name` for the newest version.')
      .meta({examples: ['digits@production', 'digits/3']}),
    runtime: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,39}$/, 'must be the name of a runtime')
      .optional()
      .describe(
        'The recipe of the model server; default: what fits the files of the model (docs/runtimes.md). `custom`: the command below.',
      ),
    command: z
      .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
      .optional()
      .describe(
        "Runtime `custom`: a model server of the project's own. Runs with the project's code as it is when it is deployed, in the environment or image of its workspace; no shell reads it. Placeholders such as `{port}`, `{host}` and `{model_folder}` are filled in (docs/runtimes.md).",
      )
      .meta({examples: ['python serve.py --port {port} --model {model_file}'], written: 'as-is'}),
    require: z
      .strictObject({
        signed: z
          .string()
          .min(1)
          .describe('A file as ssh-keygen takes it (allowed_signers): who may sign a model (`model sign`).')
          .meta({examples: ['allowed_signers']}),
      })
      .optional()
      .describe('What a model must have before it is deployed.'),
    protocol: z
      .enum(['v2', 'openai', 'mlflow'])
      .optional()
      .describe(
        "What the command speaks: the Open Inference Protocol v2 (the default), OpenAI's API, or that of MLflow's server.",
      ),
    ready: z
      .strictObject({
        path: z.string().startsWith('/').describe('Path that answers 200 once the model is loaded.'),
        seconds: z.int().min(1).max(86_400).default(120).describe('How long that may take.'),
      })
      .optional()
      .describe(
        "When the server of the command is ready; default: `/v2/models/{model}/ready`, of OpenAI's API `/health`, of MLflow's server `/ping`.",
      ),
    replicas: z
      .union([
        z.int().min(1).max(64),
        z.string().regex(/^\d{1,2}\.\.\d{1,2}$/, 'must be a number, or a range such as 0..4'),
      ])
      .default(1)
      .describe(
        'Number of model servers that share the work, or a range: with `1..8` the head starts and ends servers as requests come, and with `0..8` none runs while nobody asks.',
      )
      .meta({examples: [2, '0..4']}),
    scale: z
      .strictObject({
        target: z
          .number()
          .min(0.01)
          .max(10_000)
          .optional()
          .describe('Requests under way and waiting a server (default: 4).'),
        idle: z
          .int()
          .min(1)
          .max(2_592_000)
          .optional()
          .describe('Seconds without a request until no server runs (default: 600).'),
        down: z
          .int()
          .min(0)
          .max(86_400)
          .optional()
          .describe('Seconds for which fewer servers have to do before one ends (default: 300).'),
      })
      .optional()
      .describe('By what the head chooses how many servers run, where `replicas` is a range.'),
    cors: z
      .array(
        z
          .string()
          .refine((text) => text === '*' || isOrigin(text), 'must be an origin such as https://app.example, or *'),
      )
      .max(100)
      .optional()
      .describe(
        'Origins of web pages whose scripts may call the endpoint from a browser (CORS), `*` for all; they show a key as everybody. Nobody else needs it.',
      )
      .meta({examples: [['https://app.example', 'http://localhost:5173']], written: 'as-is'}),
    gpus: serverGpus.optional(),
    memory: z
      .string()
      .regex(/^\d+(\.\d+)?\s*[KMGT]i?B?$/i, 'must be a size such as 8GiB or 512MiB')
      .optional()
      .describe(
        'Memory of a node that each server needs beside its GPUs; flexrack then chooses nodes that have it free.',
      )
      .meta({examples: ['8GiB']}),
  })
  .describe('One served model.')

/**
 * The manifest as it may be written: the one source of validation, of docs/manifest.md and of
 * schema/flexrack.schema.json.
 */
export const manifestSchema = z
  .strictObject({
    name: z
      .string()
      .regex(NAME, NAME_RULE)
      .describe('Name of the project: lower-case letters, digits, dots, dashes, underscores.')
      .meta({examples: ['digits'], written: 'as-is'}),
    rack: z
      .string()
      .min(1)
      .refine(noLineBreak, 'must be one line')
      .optional()
      .describe('Name or file of the rack that the project prefers; `--rack` and FLEXRACK_RACK come first.')
      .meta({examples: ['local']}),
    workspace,
    gpus: gpus.optional(),
    train: train.optional(),
    sweep: sweep.optional(),
    data,
    volumes,
    tracking,
    endpoints: z
      .record(z.string().regex(NAME, NAME_RULE), endpoint)
      .default({})
      .describe('Served models by name of the endpoint.'),
  })
  .meta({title: 'flexrack.yaml', description: 'The manifest of a flexrack project.'})

export type ManifestFile = z.output<typeof manifestSchema>

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === ''
}
