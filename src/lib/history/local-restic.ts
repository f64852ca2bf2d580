import {execFile} from 'node:child_process'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {CliError, type Context} from '../base/index.ts'

const run = promisify(execFile)

/** Repositories that compress: version 2 of the format. */
const OLDEST = [0, 14] as const
const MOST_BYTES = 256 << 20

/**
 * restic of this machine, over a copy that `workspace history --copy` made. Nothing in the copy is written, not even a
 * lock, and no cache is left. The password goes by the name of its file.
 */
export class LocalRestic {
  readonly #folder: string
  readonly #context: Context

  private constructor(folder: string, context: Context) {
    this.#folder = folder
    this.#context = context
  }

  /** Errors: LOCAL_FAILED where this machine has no restic that reads the copy. */
  static async open(folder: string, context: Context): Promise<LocalRestic> {
    const restic = new LocalRestic(folder, context)
    const said = await run('restic', ['version'], {signal: context.signal, env: context.env}).then(
      ({stdout}) => stdout,
      (error: NodeJS.ErrnoException) => {
        if (context.signal.aborted) throw new CliError('INTERRUPTED', 'interrupted')
        if (error.code === 'ENOENT') return ''
        throw error
      },
    )
    const [, major, minor] = /^restic (\d+)\.(\d+)/.exec(said) ?? []
    if (major === undefined || Number(major) < OLDEST[0] || (Number(major) === 0 && Number(minor) < OLDEST[1])) {
      const found = major === undefined ? 'this machine has no restic' : `restic ${major}.${minor} is too old`
      throw new CliError('LOCAL_FAILED', `${found}, which reads copies of a history`, {
        hint: `install restic ${OLDEST.join('.')} or newer, such as: sudo apt install restic`,
      })
    }
    return restic
  }

  /** What it answers on stdout. Errors: CONFLICT where it cannot read the copy. */
  async ask(words: string[]): Promise<string> {
    const argv = ['-r', join(this.#folder, 'repository'), '-p', join(this.#folder, 'key'), '--no-lock', '--no-cache']
    try {
      const {signal, env} = this.#context
      return (await run('restic', [...argv, ...words], {signal, env, maxBuffer: MOST_BYTES})).stdout
    } catch (error) {
      if (this.#context.signal.aborted) throw new CliError('INTERRUPTED', 'interrupted', {cause: error})
      const said = String((error as {stderr?: string}).stderr ?? '').trim()
      throw new CliError('CONFLICT', `restic cannot read the copy: ${said.split('\n').at(-1) || String(error)}`, {
        hint: `restic -r ${this.#folder}/repository -p ${this.#folder}/key check --read-data`,
        cause: error,
      })
    }
  }
}

/** A path as restic's patterns take it literally (filepath.Match of Go). */
export function literally(path: string): string {
  return `/${path.replaceAll(/[\\*?[\]]/g, (one) => `\\${one}`)}`
}
