/** One of `volumes`: a folder of nodes that projects may have; what a project wants of it is src/lib/manifest/data.ts. */
import {z} from 'zod'

/** What belongs to the machine, and to nobody's runs. */
const OF_THE_SYSTEM =
  /^\/(?:$|(?:bin|boot|dev|etc|lib|lib32|lib64|libx32|proc|root|run|sbin|sys|usr|var)(?:\/|$)|(?:home|tmp|mnt|media|srv|opt)$)/
export const volume = z
  .strictObject({
    path: z
      .string()
      .regex(/^\/[A-Za-z0-9_./@+-]{1,500}$/, 'must be an absolute path of letters, digits and _ . / @ + -')
      .refine(
        (text) => !text.split('/').some((part, index) => part === '..' || part === '.' || (part === '' && index > 0)),
        'must be a plain path, without . and .. and a slash at its end',
      )
      .refine(
        (text) => !OF_THE_SYSTEM.test(text) || /^\/var\/(?:lib|data|scratch)\/./.test(text),
        'must not be a folder of the system',
      )
      .describe('The folder, the same on all of its nodes. Programs in images and sandboxes see it at this path.')
      .meta({examples: ['/scratch']}),
    kind: z
      .enum(['local', 'shared'])
      .describe('`local`: each node has its own; `shared`: all of its nodes see the same files, which `check` tries.'),
    nodes: z
      .string()
      .min(1)
      .optional()
      .describe('Nodes that have it, as `--on` takes them; by default all.')
      .meta({examples: ['node-1,gpu=a100'], written: 'as-is'}),
    read_only: z.boolean().optional().describe('No project may write to it.'),
  })
  .describe('One volume.')
