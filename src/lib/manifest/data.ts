import {z} from 'zod'

const DATA = /^[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?(?:@[0-9a-f]{4,64})?$/

/** Volumes of the rack that programs may have. */
export const volumes = z
  .array(z.string().regex(/^[a-z][a-z0-9_]{0,30}(?::rw)?$/, 'must be the name of a volume of the rack file, or name:rw'))
  .max(50)
  .refine((all) => new Set(all.map((one) => one.split(':')[0])).size === all.length, 'must name each volume once')
  .default([])
  .describe("Volumes of the rack file that runs, commands and notebooks may have: each folder is told as FLEXRACK_VOLUME_NAME. In images and sandboxes it is there at the same path, read-only without `:rw`; outside of them it is what the account may do that counts.")
  .meta({examples: [['nfs', 'scratch:rw']]})

/** Data sets that runs find. */
export const data = z
  .array(z.string().regex(DATA, 'must be the name of a data set, or name@version'))
  .max(100)
  .refine((all) => new Set(all.map((one) => one.split('@')[0])).size === all.length, 'must name each data set once')
  .default([])
  .describe('Data sets (`flexrack data add`) that runs find below FLEXRACK_DATA, read-only, each under its name: the newest version, or the one whose digest begins like this.')
  .meta({examples: [['digits', 'images@3fa9c1']]})
