import {z} from 'zod'
import {SLURM_OPTION, SLURM_OPTION_RULE} from '../document/index.ts'
import {gpuKeys, HOST, network, node, nodePath} from './node-schema.ts'
import {volume} from './volume-schema.ts'

const metricsFolder = z
  .string()
  .regex(/^\/[A-Za-z0-9_./@+-]{1,500}$/, 'must be an absolute path of letters, digits and _ . / @ + -')

const head = z
  .strictObject({
    node: z
      .string()
      .optional()
      .describe('Name of the node that runs the head; the first node by default.')
      .meta({written: 'as-is'}),
    standby: z
      .string()
      .optional()
      .describe(
        'Name of another node, which runs a second head: it answers the same endpoints at an address of its own, also while the first head is away. It has no tracking.',
      )
      .meta({written: 'as-is'}),
    names: z
      .array(z.string().regex(/^[A-Za-z0-9.:-]{1,253}$/, 'must be a host name or an address'))
      .min(1)
      .max(16)
      .optional()
      .describe(
        'More names and addresses that clients call the heads by: a name of your DNS for both, or an address that moves between them. They stand in the certificates.',
      )
      .meta({examples: [['models.lab']]}),
    bind: z
      .string()
      .regex(HOST, 'must be an address')
      .optional()
      .describe(
        'Address that the head listens on, with TLS; a token is asked for, too. By default the `address` of its node, else the one at which the other nodes reach it, found by route, and 127.0.0.1 where all nodes are one machine. 127.0.0.1 closes it to the network.',
      ),
    port: z
      .int()
      .min(0)
      .max(65535)
      .optional()
      .describe(
        'Port of the head, and of a standby on another machine; by default one is chosen at the first start and kept.',
      ),
    url: z
      .string()
      .refine(
        (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
        'must be an http:// or https:// URL',
      )
      .optional()
      .describe(
        'Base URL at which nodes reach the head, where that is not the head itself but a proxy of yours; its certificate must be one that the nodes trust.',
      ),
    store: z
      .string()
      .min(1)
      .optional()
      .describe("Backend store URI of MLflow; by default SQLite in the head's folder.")
      .meta({examples: ['postgresql://mlflow@db/mlflow']}),
    artifacts: z
      .string()
      .min(1)
      .optional()
      .describe("Where MLflow keeps artifacts; by default a folder in the head's folder.")
      .meta({examples: ['s3://bucket/mlflow']}),
  })
  .prefault({})
  .describe('The one long-lived service of the rack: tracking, registry, gateway.')

const slurmWord = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.,:@+-]{0,127}$/, 'must be letters, digits and _ . , : @ + -')
  .meta({written: 'as-is'})
const slurm = z
  .strictObject({
    login: z
      .string()
      .describe(
        'Name of the node that has sbatch, squeue and scancel; its `root` and `environments` must be on a file system that all nodes of Slurm share.',
      )
      .meta({written: 'as-is'}),
    partition: slurmWord.optional().describe('Partition of jobs, where the manifest names none.'),
    account: slurmWord.optional().describe('Account that jobs are charged to, where the manifest names none.'),
    qos: slurmWord.optional().describe('Quality of service of jobs, where the manifest names none.'),
    interface: z
      .string()
      .regex(/^[A-Za-z0-9_.:-]{1,15}$/, 'must be the name of a network interface')
      .optional()
      .describe(
        'Network interface over which the nodes of a job meet; by default the one with the address that Slurm knows.',
      )
      .meta({examples: ['ib0']}),
    bin: nodePath
      .optional()
      .describe("Folder of Slurm's programs, where they are not on the PATH of an SSH session.")
      .meta({examples: ['/opt/slurm/bin']}),
    extra: z
      .array(z.string().regex(SLURM_OPTION, SLURM_OPTION_RULE))
      .max(50)
      .default([])
      .describe('More options for sbatch in every job, each as `--name=value`.')
      .meta({examples: [['--mail-type=FAIL']]}),
  })
  .describe('The rack has Slurm, and Slurm alone places its runs: `train` gives them to sbatch.')

/**
 * The rack file as it may be written: the one source of validation, of docs/rack-file.md and of
 * schema/rack.schema.json.
 */
export const rackSchema = z
  .strictObject({
    head,
    gpu: z.strictObject(gpuKeys).partial().optional().describe('The GPU daemons of all nodes, `flexrack gpu serve`.'),
    slurm: slurm.optional(),
    network: network
      .optional()
      .describe(
        'How nodes get at package indexes: `direct`, the default, by themselves; `through-client` through the SSH connection of the command, for nodes without internet; `bundle` from the bundles that were applied on its machine (`flexrack bundle apply`), through the same connection, and from nowhere else.',
      ),
    network_hosts: z
      .array(
        z
          .string()
          .regex(
            /^(?:\*\.)?[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?(?::\d{1,5})?$/,
            'must be HOST, *.HOST or HOST:PORT',
          ),
      )
      .max(200)
      .optional()
      .describe(
        'Hosts that nodes may reach through the command, besides those that the settings of pip and uv on its machine and the requirements name. Without a port: 80 and 443.',
      )
      .meta({examples: [['files.example.org', '*.example.org', '10.0.0.5:8080']]}),
    data_limit: z
      .string()
      .regex(/^[1-9][0-9]{0,8}\s*[KMGT]i?B$/i, 'must be a size such as 200GiB')
      .optional()
      .describe(
        'Most that data sets (`flexrack data push`) take on a node; then those that were used longest ago give way, but for what runs have. Without it: what the disk has.',
      )
      .meta({examples: ['200GiB'], written: 'as-is'}),
    metrics: z
      .strictObject({
        textfile: metricsFolder
          .optional()
          .describe(
            "Folder of node_exporter's textfile collector, the same on all nodes. " +
              'Each run keeps a file `flexrack_run_*.prom` there while it runs.',
          ),
        dcgm: metricsFolder
          .optional()
          .describe(
            "Folder of dcgm-exporter's job mapping (`--hpc-job-mapping-dir`), the same on all nodes. " +
              'Each run adds its name to the files of its GPUs there while it runs.',
          ),
      })
      .optional()
      .describe(
        "Numbers for Prometheus, in folders of other programs, where a run's account may write there; everybody may read the files.",
      )
      .meta({examples: [{textfile: '/var/lib/prometheus/node-exporter'}]}),
    volumes: z
      .record(
        z
          .string()
          .regex(
            /^[a-z][a-z0-9_]{0,30}$/,
            'must be 1 to 31 lower-case letters, digits and underscores, and begin with a letter',
          ),
        volume,
      )
      .optional()
      .describe(
        'Folders of nodes that projects may have, by name (`volumes` of flexrack.yaml). No other folder can be named there: this is the list of what is allowed.',
      )
      .meta({
        examples: [
          {scratch: {path: '/scratch', kind: 'local'}, nfs: {path: '/data', kind: 'shared', nodes: 'gpu=a100'}},
        ],
      }),
    nodes: z.array(node).min(1).max(10_000).describe('The machines of the rack.'),
  })
  .meta({title: 'rack file', description: 'A named set of nodes: `<config folder>/flexrack/racks/<name>.yaml`.'})

export type RackFile = z.output<typeof rackSchema>

/** In the product, but not in this version. */
export const NOT_YET: Record<string, string> = {
  defaults: 'put what the nodes share into ~/.ssh/config',
  scheduler: 'a rack with Slurm has `slurm: {login: NODE}`',
}
