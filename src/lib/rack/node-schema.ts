/** One of `nodes`: a machine, how it is reached, and its GPU daemon. */
import {z} from 'zod'

const NODE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
const NODE_NAME_RULE =
  'must be 1 to 63 letters, digits, dots, dashes or underscores, and begin and end with a letter or digit'
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/
/** A host that begins with a dash would be read as an option, one with blanks as several words. */
export const HOST = /^[A-Za-z0-9_.:%[\]][A-Za-z0-9_.:%[\]-]{0,252}$/
const HOST_RULE = 'must be a host name, an address, or a Host of ~/.ssh/config'

const path = z
  .string()
  .min(1)
  .refine((text) => !/[\r\n\0]/.test(text), 'must be one line')
export const nodePath = path.refine(
  (text) => text.startsWith('/') || text === '~' || text.startsWith('~/'),
  'must be an absolute path or begin with ~/',
)

const address = z.string().regex(HOST, 'must be an address')
export const gpuKeys = {
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
  oversubscribe: z
    .string()
    .regex(/^[1-9][0-9]{0,8}\s*[KMGT]i?B$/i, 'must be a size such as 64GiB')
    .describe(
      "Memory of the node for leases that take turns on a GPU (`attach --oversubscribe`): while one's memory is on the GPU, the others' is here. Each such lease has as much of it as of the GPU. Without it every lease keeps its memory on the GPU.",
    )
    .meta({examples: ['64GiB'], written: 'as-is'}),
  env: z
    .record(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be letters, digits and underscores, and not begin with a digit'),
      z.string().meta({written: 'as-is'}),
    )
    .describe(
      'Environment variables of the GPU daemon: which devices its OpenCL drivers show, or where its NCCL is (`FLEXRACK_NCCL`), for example.',
    )
    .meta({examples: [{CUDA_VISIBLE_DEVICES: '0,1'}]}),
}

export const network = z.enum(['direct', 'through-client', 'bundle'])

export const node = z
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
