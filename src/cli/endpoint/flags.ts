import {Flags} from '@oclif/core'

/** What is sent to an endpoint (input.ts reads it). */
export const inputFlags = {
  input: Flags.string({char: 'i', description: 'file with JSON, .npy file, or - for stdin', exclusive: ['data']}),
  data: Flags.string({char: 'd', description: 'JSON', exclusive: ['input']}),
}
