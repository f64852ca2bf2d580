import {z} from 'zod'

const DATA = /^[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?(?:@[0-9a-f]{4,64})?$/

/** Volumes of the rack that programs may have. */
export const volumes = z
  .array(
    z.string().regex(/^[a-z][a-z0-9_]{0,30}(?::rw)?$/, 'must be the name of a volume of the rack file, or name:rw'),
  )
  .max(50)
  .refine((all) => new Set(all.map((one) => one.split(':')[0])).size === all.length, 'must name each volume once')
  .default([])
  .describe(
    'Volumes of the rack file that runs, commands and notebooks may have: each folder is told as FLEXRACK_VOLUME_NAME. In images and sandboxes it is there at the same path, read-only without `:rw`; outside of them it is what the account may do that counts.',
  )
  .meta({examples: [['nfs', 'scratch:rw']]})

/**
 * A remote of rclone.conf and a path in it. Neither a path of a machine, nor a remote with its keys in its name
 * (`:s3,access_key_id=...:`).
 */
const place = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.+@-]{0,60}:[^\0\r\n]{0,1000}$/, 'must be REMOTE:PATH, with a remote of rclone.conf')
  .refine((text) => !text.split(/[:/]/).includes('..'), 'must not have .. in its path')

/** What is copied to nodes before a run. */
export const inputs = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,60}$/, 'must be 1 to 61 letters, digits, dots, dashes and underscores'),
    place,
  )
  .default({})
  .describe(
    'What rclone copies to each node before a run, by the name under which it is found below FLEXRACK_INPUTS: `REMOTE:PATH`, with a remote of the rclone.conf of the machine that starts the run, or of its variables RCLONE_CONFIG_*. Contents are compared. What an earlier run on the node has need not come again.',
  )
  .meta({examples: [{images: 'store:bucket/images'}]})

/** What goes to buckets. */
export const uploads = z
  .array(
    z.strictObject({
      to: place
        .describe('`REMOTE:PATH`. A folder with the id of the run is made there.')
        .meta({examples: ['store:bucket/runs']}),
      files: z
        .array(
          z
            .string()
            .min(1)
            .refine(
              (path) => !/[\0\r\n]/.test(path) && !path.startsWith('/') && !path.split('/').includes('..'),
              'must be a path below FLEXRACK_OUTPUTS',
            ),
        )
        .max(1000)
        .default([])
        .describe(
          'Files, and folders with a trailing `/`, below FLEXRACK_OUTPUTS; all of it by default. Links are not followed.',
        ),
    }),
  )
  .max(20)
  .default([])
  .describe(
    'What each node copies to buckets, from what its ranks have left in FLEXRACK_OUTPUTS, when all of its ranks have ended well. The run has not finished before that is there and was compared; `flexrack runs upload` does it again where it failed.',
  )
  .meta({examples: [[{to: 'store:bucket/runs', files: ['checkpoints/', 'model.onnx']}]]})

/** Data sets that runs find. */
export const data = z
  .array(z.string().regex(DATA, 'must be the name of a data set, or name@version'))
  .max(100)
  .refine((all) => new Set(all.map((one) => one.split('@')[0])).size === all.length, 'must name each data set once')
  .default([])
  .describe(
    'Data sets (`flexrack data add`) that runs find below FLEXRACK_DATA, read-only, each under its name: the newest version, or the one whose digest begins like this.',
  )
  .meta({examples: [['digits', 'images@3fa9c1']]})
