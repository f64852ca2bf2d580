/** `train.slurm`: what of a job is the project's to say; what is the rack's to say is src/lib/rack/schema.ts. */
import {z} from 'zod'
import {SLURM_OPTION, SLURM_OPTION_RULE} from '../document/index.ts'
import {SLURM_TIME} from './slurm-time.ts'

const slurmWord = (what: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_.,:@+-]{0,127}$/, 'must be letters, digits and _ . , : @ + -')
    .optional()
    .describe(what)
    .meta({written: 'as-is'})

export const slurm = z
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
