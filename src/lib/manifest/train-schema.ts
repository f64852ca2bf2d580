/** `train:` as it may be written; `train.gpus` is gpus.ts, and what a Slurm job needs slurm-schema.ts. */
import {z} from 'zod'
import {inputs, uploads} from './data.ts'
import {durationSeconds, sweepSeconds} from './duration.ts'
import {trainGpus} from './gpus.ts'
import {hang, watch} from './hang.ts'
import {slurm} from './slurm-schema.ts'
import {splitWords} from './words.ts'
import {asWritten, env, noLineBreak} from './workspace-schema.ts'

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

export const train = z
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
    time_limit: z
      .string()
      .refine((text) => sweepSeconds(text) !== undefined, 'must be a duration above zero, such as 90m, 12h or 2d')
      .optional()
      .describe(
        'How long the run takes at most, counted from its start: then it is ended as by `runs stop`. While it waits in line (`train --wait`, with a head) it may pass runs that it does not delay.',
      )
      .meta({examples: ['90m', '12h']}),
    priority: z
      .int()
      .min(-100)
      .max(100)
      .default(0)
      .describe(
        'Among runs that wait for the same (`train --wait`, with a head) higher ones go first. Slurm has its own.',
      ),
    preemptible: z
      .boolean()
      .default(false)
      .describe(
        'The run makes room for runs that wait and come first: those with a higher `priority`, and with the same those of users who had less of late. It needs `checkpoint`: it has a minute to write the next one, then its ranks get SIGTERM and `grace`. It waits in line, and goes on from its newest checkpoint by itself. The head of the rack decides; Slurm has its own preemption.',
      ),
    hang,
    watch,
  })
  .describe('What `flexrack train` runs.')
