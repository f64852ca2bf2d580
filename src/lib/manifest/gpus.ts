import {z} from 'zod'

/** Keys that ask for devices: those of `gpus`, and of `train.gpus` in its long form. */
const devices = {
  count: z.int().min(1).max(64).default(1).describe('How many devices.'),
  memory: z
    .string()
    .regex(/^\d+(\.\d+)?\s*([KMGT]i?B?|[kmgt]B|B)?$/i, 'must be a size such as 8GiB or 512MiB')
    .optional()
    .describe('Memory of each: a share of the device of this size. Without it and without `fraction`: whole devices.')
    .meta({examples: ['8GiB'], written: 'as-is'}),
  fraction: z
    .number()
    .min(0.001)
    .max(1)
    .optional()
    .describe('Instead: this part of the memory and of the time of each.')
    .meta({examples: [0.5]}),
  cap: z.boolean().default(false).describe('Never use more time than the share, even if nobody else wants it.'),
  api: z
    .enum(['cuda', 'opencl'])
    .optional()
    .describe('API through which programs reach them. Without it: CUDA where a node shares such devices, else OpenCL.'),
}

const checkShare = (context: {
  value: {memory?: string | undefined; fraction?: number | undefined; cap: boolean}
  issues: unknown[]
}): void => {
  const {memory, fraction, cap} = context.value
  if (memory !== undefined && fraction !== undefined)
    context.issues.push({code: 'custom', message: 'has both memory and fraction; one of them', input: context.value})
  if (cap && memory === undefined && fraction === undefined)
    context.issues.push({
      code: 'custom',
      message: 'has cap for whole devices; it limits a share (memory or fraction)',
      input: context.value,
    })
}

export const gpus = z
  .strictObject({
    ...devices,
    oversubscribe: z
      .boolean()
      .optional()
      .describe(
        'Take turns on one GPU with others that do: together they may have more memory than it has. Needs `memory` or `fraction`, and `gpu.oversubscribe` of the rack file.',
      ),
  })
  .check(checkShare)
  .describe('What `flexrack attach` and `workspace exec --gpus` ask for where no flag says otherwise.')

/** The same for each model server of an endpoint. */
export const serverGpus = z
  .union([
    z.int().min(1).max(64),
    z
      .strictObject({
        ...devices,
        remote: z
          .boolean()
          .default(false)
          .describe("Lease GPUs of other nodes, too, where a server's own node has not enough free."),
      })
      .check(checkShare),
  ])
  .describe(
    'GPUs that each server leases when it starts, and gives back when it ends: of the GPU daemon of its node (`flexrack gpu serve`). It sees these and no others. A number of whole GPUs, or a mapping that asks for shares, so that several servers have one GPU, or allows GPUs of other nodes. ' +
      'flexrack then chooses the nodes, of those in `--on` or of all: `endpoint deploy --dry-run` says which and why.',
  )
  .meta({examples: [1, {memory: '4GiB'}, {fraction: 0.25, remote: true}]})

/** The same for the ranks of a run. */
export const trainGpus = z
  .union([
    z.int().min(0).max(64),
    z
      .strictObject({
        ...devices,
        remote: z
          .boolean()
          .default(false)
          .describe(
            'If a node has too few free GPUs of its own, use GPUs that other nodes of the rack share (`flexrack gpu serve`). All GPUs of such a node are then leases.',
          ),
      })
      .check(checkShare),
  ])
  .describe(
    'GPUs for each process; each process gets its own. A number, or a mapping that asks for shares of GPUs or allows GPUs of other nodes; both of these are leases of the GPU daemons, and the plan says why. `--gpus` overrides the number. ' +
      'flexrack then chooses nodes and GPUs by how they are wired, and binds each process to the CPUs and memory next to its GPUs. ' +
      "On a node CUDA_VISIBLE_DEVICES names the GPUs of all its processes in the order of LOCAL_RANK: with one GPU each, LOCAL_RANK is the index of the process's own GPU. Leased GPUs come in the same order. With 0 no process sees a GPU, and the processes spread over the NUMA nodes. " +
      'Without this key nothing is chosen: the run takes the first nodes of the rack file, and every process sees all GPUs.',
  )
  .meta({examples: [1, {count: 1, fraction: 0.5}, {count: 2, remote: true}]})
