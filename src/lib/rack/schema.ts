import {z} from 'zod'
import {SLURM_OPTION, SLURM_OPTION_RULE} from '../document/index.ts'
import {volume} from './volume-schema.ts'

const NODE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
const NODE_NAME_RULE =
  'must be 1 to 63 letters, digits, dots, dashes or underscores, and begin and end with a letter or digit'
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/
/** A host that begins with a dash would be read as an option, one with blanks as several words. */
const HOST = /^[A-Za-z0-9_.:%[\]][A-Za-z0-9_.:%[\]-]{0,252}$/
const HOST_RULE = 'must be a host name, an address, or a Host of ~/.ssh/config'

const path = z
  .string()
  .min(1)
  .refine((text) => !/[\r\n\0]/.test(text), 'must be one line')
const nodePath = path.refine(
  (text) => text.startsWith('/') || text === '~' || text.startsWith('~/'),
  'must be an absolute path or begin with ~/',
)

const address = z.string().regex(HOST, 'must be an address')
const gpuKeys = {
  bind: z
    .union([address, z.array(address).min(1).max(16)])
    .describe(
      "Address that the GPU daemon listens on, or several; 127.0.0.1 by default. Anything but loopback opens it to the network; a lease's key is asked for either way.",
    ),
  port: z
    .int()
    .min(1)
    .max(65535)
    .describe('Port of the GPU daemon; by default one is chosen at the first start and kept.'),
  transport: z
    .enum(['auto', 'tls', 'tcp'])
    .describe(
      "How programs talk to it: `auto`, the default, is shared memory on the same machine, else TLS 1.3 with the lease's key; `tls` is TLS always; `tcp` leaves the data unencrypted.",
    ),
  trusted_fabric: z
    .boolean()
    .describe(
      'Needed for `transport: tcp` on an address that is not loopback: confirms that everybody who can read this network may read the data.',
    ),
  grace: z
    .int()
    .min(1)
    .max(3600)
    .describe('Seconds that a lost connection has to come back before the lease ends; 30 by default.'),
  env: z
    .record(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be letters, digits and underscores, and not begin with a digit'),
      z.string().meta({written: 'as-is'}),
    )
    .describe('Environment variables of the GPU daemon: which devices its OpenCL drivers show, for example.')
    .meta({examples: [{CUDA_VISIBLE_DEVICES: '0,1'}]}),
}

const network = z.enum(['direct', 'through-client', 'bundle'])

const node = z
  .strictObject({
    name: z
      .string()
      .regex(NODE_NAME, NODE_NAME_RULE)
      .describe('Name of the node in every command.')
      .meta({written: 'as-is'}),
    host: z
      .string()
      .regex(HOST, HOST_RULE)
      .describe('Host name, address, or a Host of ~/.ssh/config.')
      .meta({examples: ['10.0.0.11']}),
    port: z.int().min(1).max(65535).optional().describe('SSH port; by default what ~/.ssh/config says, else 22.'),
    user: z
      .string()
      .regex(/^[^\s@:-][^\s@:]{0,63}$/, 'must be a user name')
      .optional()
      .describe('SSH user; by default what ~/.ssh/config says, else your user name here.'),
    identity_file: path
      .optional()
      .describe('Private key for this node. It never leaves this machine.')
      .meta({examples: ['~/.ssh/id_ed25519']}),
    proxy_jump: z
      .string()
      .regex(/^[^\s-]\S*$/, 'must be [user@]host[:port], several separated by commas')
      .optional()
      .describe('Hosts to go through, `[user@]host[:port]`, several separated by commas.'),
    known_hosts: path.optional().describe('File of host keys for this node, instead of ~/.ssh/known_hosts.'),
    address: z
      .string()
      .regex(HOST, 'must be a host name or an address')
      .optional()
      .describe('Address at which the other nodes reach this one; by default found by route.'),
    root: nodePath
      .default('~/.flexrack')
      .describe(
        "flexrack's folder on the node. Machines that share it, as homes on NFS, each have their own folder in it.",
      ),
    environments: nodePath
      .optional()
      .describe('Folder of Python environments, where several nodes share one; by default `environments` in the root.'),
    network: network
      .optional()
      .describe("How it gets at package indexes, where that differs from the rack's `network`."),
    gpu: z
      .strictObject(gpuKeys)
      .partial()
      .optional()
      .describe("The node's GPU daemon, where it differs from the rack's `gpu`."),
    until: z.iso
      .datetime({offset: true, error: 'must be a time such as 2026-11-30T18:00:00Z'})
      .optional()
      .describe(
        'When it goes away by itself, as a machine of the spot market or one that is booked. After that it is used only where it is named, and that it does not answer is no failure.',
      )
      .meta({examples: ['2026-11-30T18:00:00Z']}),
    labels: z
      .record(
        z.string().regex(LABEL, 'must be letters, digits, dots, dashes, underscores or slashes'),
        z
          .string()
          .regex(/^[^,\s=]{0,63}$/, 'must be short text without blanks, commas and equal signs')
          .meta({written: 'as-is'}),
      )
      .default({})
      .describe('Labels to select nodes by, `--on gpu=a100`.')
      .meta({examples: [{gpu: 'a100'}]}),
  })
  .describe('One node.')

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
