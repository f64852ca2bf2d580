import {z} from 'zod'
import {SLURM_OPTION, SLURM_OPTION_RULE} from '../document/index.ts'
import {data, inputs, uploads, volumes} from './data.ts'
import {durationSeconds} from './duration.ts'
import {gpus, trainGpus} from './gpus.ts'
import {hang, watch} from './hang.ts'
import {SLURM_TIME} from './slurm-time.ts'
import {sweep} from './sweep-schema.ts'
import {splitWords} from './words.ts'
import {asWritten, env, noLineBreak, workspace} from './workspace-schema.ts'

/** Names of projects, experiments' prefix, endpoints: safe in paths, URLs and run ids. */
const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?$/
const NAME_RULE =
  'must be 1 to 40 lower-case letters, digits, dots, dashes or underscores, and begin and end with a letter or digit'
const MODEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:@[A-Za-z][A-Za-z0-9._-]{0,99}|\/[1-9][0-9]{0,8})?$/

const NODE_RANGE = /^[1-9][0-9]{0,3}\.\.[1-9][0-9]{0,3}$/
const NODE_RANGE_RULE = 'must be a number, or a range such as 2..8'

const checkpointPath = z
  .string()
  .min(1)
  .refine(
    (path) => noLineBreak(path) && !path.startsWith('/') && !path.split('/').includes('..'),
    'must be a path below FLEXRACK_OUTPUTS',
  )
  .describe(
    'Below FLEXRACK_OUTPUTS: with a trailing `/` a folder, everything in which is a checkpoint; else a name or a glob of checkpoints, each a file or a folder.',
  )
  .meta({examples: ['checkpoints/', 'checkpoints/step-*.pt']})

const slurmWord = (what: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_.,:@+-]{0,127}$/, 'must be letters, digits and _ . , : @ + -')
    .optional()
    .describe(what)
    .meta({written: 'as-is'})

const slurm = z
  .strictObject({
    time: z
      .string()
      .regex(SLURM_TIME, 'must be a time such as 90m, 12h, 2d, or in a form of Slurm such as 1-12:00:00')
      .optional()
      .describe(
        "Time limit, after which Slurm ends the job: `90m`, `12h`, `2d`, or Slurm's own form `days-hours:minutes:seconds`.",
      )
      .meta({examples: ['12h', '1-12:00:00'], written: 'as-is'}),
    partition: slurmWord("Partition; the rack file's by default.").meta({examples: ['gpu']}),
    account: slurmWord("Account that is charged; the rack file's by default."),
    qos: slurmWord("Quality of service; the rack file's by default."),
    gpus: z
      .union([
        z.int().min(1).max(64),
        z.string().regex(/^[A-Za-z0-9_.-]{1,60}:[1-9][0-9]?$/, 'must be a number, or type:number'),
      ])
      .optional()
      .describe('GPUs on each node: a number, or `type:number`.')
      .meta({examples: [4, 'a100:4']}),
    cpus: z.int().min(1).max(4096).optional().describe('CPUs on each node; by default one for each process.'),
    memory: z
      .string()
      .regex(/^[1-9][0-9]{0,8}\s*[KMGT](i?B)?$/i, 'must be a size such as 64GiB')
      .optional()
      .describe('Memory on each node; by default what the partition gives.')
      .meta({examples: ['64GiB'], written: 'as-is'}),
    constraint: z
      .string()
      .regex(/^[A-Za-z0-9_.,:@+&|()[\]*-]{1,200}$/, "must be features in Slurm's own form, without blanks")
      .optional()
      .describe('Features that the nodes must have.')
      .meta({examples: ['a100&ib'], written: 'as-is'}),
    exclusive: z.boolean().default(false).describe('No other job runs on the nodes of this one.'),
    requeue: z
      .boolean()
      .optional()
      .describe(
        'Whether Slurm starts the job again after it preempted it (PreemptMode=REQUEUE) or after a node failed. By default it does where `train.checkpoint` is set: the job then continues from the newest whole checkpoint. Without a checkpoint it would start from the beginning.',
      ),
    container: z
      .strictObject({
        image: z
          .string()
          .regex(
            /^[A-Za-z0-9_./][A-Za-z0-9_./:@#+-]{0,499}$/,
            'must be an image as pyxis takes it, such as nvcr.io#nvidia/pytorch:24.10-py3, or a .sqsh file',
          )
          .describe('Image, as `--container-image` of pyxis takes it.')
          .meta({examples: ['nvcr.io#nvidia/pytorch:24.10-py3', '/shared/images/torch.sqsh'], written: 'as-is'}),
        mounts: z
          .array(
            z
              .string()
              .regex(
                /^\/[A-Za-z0-9_./@+-]*:\/[A-Za-z0-9_./@+-]*(?::[a-z+-]{1,40})?$/,
                'must be /from:/to or /from:/to:ro',
              ),
          )
          .max(100)
          .default([])
          .describe("Folders of the node to mount in the container, besides flexrack's own.")
          .meta({examples: [['/datasets:/data:ro']]}),
      })
      .optional()
      .describe(
        'Ranks run in a container, where the cluster has pyxis. Python and its packages are then those of the image (Python 3.9 or newer as python3), not those of workspace.python.',
      ),
    extra: z
      .array(z.string().regex(SLURM_OPTION, SLURM_OPTION_RULE))
      .max(50)
      .default([])
      .describe('More options for sbatch, each as `--name=value`; they come after those of the rack file.')
      .meta({examples: [['--mail-type=FAIL', '--licenses=matlab:1']]}),
  })
  .prefault({})
  .describe('What a Slurm job needs besides nodes and processes; used on a rack that has Slurm.')

const checkpoint = z
  .union([
    checkpointPath,
    z.strictObject({
      path: checkpointPath,
      marker: z
        .string()
        .regex(/^[A-Za-z0-9._-]{1,100}$/, 'must be letters, digits, dots, dashes and underscores')
        .optional()
        .describe(
          "What marks a checkpoint as whole: if checkpoints are folders, the name of a file in them (`DONE`); if they are files, a suffix of the marker file's name (`.done`).",
        )
        .meta({examples: ['DONE']}),
      copies: z
        .int()
        .min(0)
        .max(8)
        .optional()
        .describe(
          'On how many other nodes a copy of the newest whole checkpoint is kept while the ranks train, so that it outlives the node that wrote it. ' +
            'Without it one where the run can go on without a node (`spares`, `nodes: 2..8`), else none; nothing to copy where nodes write to a file system that they share.',
        ),
    }),
  ])
  .describe(
    'Where the run writes its checkpoints. Each time the ranks are started again, FLEXRACK_CHECKPOINT names the newest whole checkpoint, which is then on every node. The short form is the path alone. ' +
      'Half-written checkpoints are skipped: names such as `x.partial` or `.x.tmp` (write beside, then rename), archives and safetensors files that end too early, and shards of torch.distributed.checkpoint without their `.metadata`.',
  )
  .meta({examples: ['checkpoints/', {path: 'checkpoints/step-*', marker: 'DONE'}]})

const train = z
  .strictObject({
    command: z
      .union([
        z.string().check((context) => {
          const words = splitWords(context.value)
          if (typeof words === 'string') context.issues.push({code: 'custom', message: words, input: context.value})
          else if (words.length === 0)
            context.issues.push({code: 'custom', message: 'must not be empty', input: context.value})
        }),
        z
          .array(asWritten.refine((word) => !word.includes('\0'), 'must not contain NUL'))
          .min(1)
          .max(10_000),
      ])
      .describe(
        'The Python script (or `-m module`) and its arguments: one line with quotes as in a shell (nothing is expanded), or a list of words.',
      )
      .meta({examples: ['train.py --epochs 5', ['-m', 'digits.train', '--epochs', '5']]}),
    launcher: z
      .enum(['torchrun', 'accelerate', 'deepspeed', 'ray', 'mpi', 'plain'])
      .default('torchrun')
      .describe(
        'What starts the ranks: `torchrun` starts `processes_per_node` processes on each node; `accelerate` does so with `accelerate launch`, whose config is made from the plan and from accelerate.yaml in the project folder, where there is one; `deepspeed` with the launcher of DeepSpeed for one node, without a hostfile; `mpi` with the mpirun of Open MPI 4, which every node must have (the nodes need no ssh between them); `ray` makes a Ray cluster of the nodes for as long as the run lives, and starts one process, on the first of them, which finds it by RAY_ADDRESS; `plain` starts one process on each node. All but `ray` set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; `mpi` also sets what Horovod reads.',
      ),
    scheduler: z
      .enum(['ssh', 'slurm'])
      .optional()
      .describe(
        'Who places the run: flexrack over SSH, or Slurm; `--scheduler` overrides it. By default Slurm where the rack has it, and there nothing else is taken.',
      ),
    slurm,
    nodes: z
      .union([z.int().min(1).max(1024), z.string().regex(NODE_RANGE, NODE_RANGE_RULE)])
      .default(1)
      .describe(
        'Number of nodes: a number, or `2..8` for at least 2 and at most 8. Such a run starts with the nodes that are free and reachable, and shrinks and grows when it is started again. `--nodes` overrides it.',
      )
      .meta({examples: [2, '2..8']}),
    spares: z
      .int()
      .min(0)
      .max(64)
      .default(0)
      .describe(
        'Number of extra nodes that are reserved and prepared, and replace lost nodes. `--spares` overrides it.',
      ),
    processes_per_node: z
      .int()
      .min(1)
      .max(256)
      .default(1)
      .describe('Processes on each node; `--processes-per-node` overrides it.'),
    gpus: trainGpus.optional(),
    restarts: z
      .int()
      .min(0)
      .max(100)
      .default(0)
      .describe(
        'How many times all ranks are started again after a failure. Continuing after a lost node (`spares`, `nodes: 2..8`) does not count.',
      ),
    checkpoint: checkpoint.optional(),
    restart: z
      .strictObject({
        without_progress: z
          .int()
          .min(1)
          .max(100)
          .default(2)
          .describe(
            'After this many attempts in a row without progress flexrack gives up, whatever `restarts` allows. Progress is a newer checkpoint, or more steps from the same one.',
          ),
        after_reboot: z
          .enum(['checkpoint', 'anew', 'stay'])
          .default('checkpoint')
          .describe(
            'What becomes of the run after a reboot of its nodes, where `restarts` are left; a reboot uses up one. `checkpoint`: it goes on from its newest whole checkpoint, and ends where there is none. `anew`: without one it begins again. `stay`: it ends. Slurm has `slurm.requeue` instead.',
          ),
      })
      .prefault({})
      .describe('When flexrack starts again, and when it gives up.'),
    outputs: z
      .array(z.string().min(1).refine(noLineBreak, 'must be one line'))
      .max(1000)
      .default([])
      .describe(
        'Files, and folders with a trailing `/`, that the run produces; they are logged as artifacts. flexrack looks for them in the folder of the run, FLEXRACK_OUTPUTS, then in the project folder on the node.',
      )
      .meta({examples: [['model.onnx', 'checkpoints/']]}),
    inputs,
    uploads,
    env: env('Environment variables of every process of the run, besides those of the workspace.'),
    exclusive: z
      .boolean()
      .default(false)
      .describe(
        'The run gets its nodes for itself: no other run of flexrack starts on them meanwhile. `--exclusive` overrides it.',
      ),
    share_gpus: z
      .boolean()
      .default(false)
      .describe(
        "Other runs may use the nodes' GPUs at the same time; right for a run that needs none. Without it the GPUs of a node belong to one run. `--share-gpus` overrides it.",
      ),
    grace: z
      .union([
        z.number().min(0).max(3600),
        z
          .string()
          .refine(
            (text) => durationSeconds(text) !== undefined,
            'must be a duration up to an hour, such as 10s, 2m or 500ms',
          ),
      ])
      .default(10)
      .describe(
        'Time between asking a process to end (SIGTERM) and ending it (SIGKILL): seconds, or a duration such as `10s` or `2m`.',
      ),
    hang,
    watch,
  })
  .describe('What `flexrack train` runs.')

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
    replicas: z.int().min(1).max(64).default(1).describe('Number of model servers that share the work.'),
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
