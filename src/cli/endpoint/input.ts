import {readFile} from 'node:fs/promises'
import {buffer} from 'node:stream/consumers'
import {CliError} from '../../lib/base/index.ts'

/** The bytes that --input or --data mean, with the name by which their kind is told. Errors: USAGE, NOT_FOUND. */
export async function readInput({
  input,
  data,
}: {
  input?: string | undefined
  data?: string | undefined
}): Promise<{file: string; bytes: Buffer}> {
  if (data !== undefined) return {file: '--data', bytes: Buffer.from(data)}
  if (input === undefined)
    throw new CliError('USAGE', 'there is nothing to send', {
      hint: "pass --input FILE, --input - or --data '[[1, 2, 3]]'",
    })
  if (input === '-') return {file: 'stdin', bytes: await buffer(process.stdin)}
  try {
    return {file: input, bytes: await readFile(input)}
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException
    throw new CliError(
      'NOT_FOUND',
      code === 'ENOENT' ? `there is no file ${input}` : `${input} cannot be read (${code})`,
      {cause: error},
    )
  }
}
