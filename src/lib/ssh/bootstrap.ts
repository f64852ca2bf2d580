/**
 * How a script reaches the node. The command line is fixed but for a nonce, so `ps` shows nothing of the script or its
 * environment, and it is plain enough for any login shell (bash, zsh, fish, dash, csh): no backslash, no quote inside.
 * It says the nonce on both outputs, which ends whatever start-up files and banners have printed, then reads the script
 * as one line of stdin. `read` of every sh takes a pipe byte by byte, so the bytes after that line are left for the
 * script.
 */
export function bootCommand(nonce: string): string {
  return `exec sh -c 'echo ${nonce} $$; echo ${nonce} $$ >&2; IFS= read -r flexrack_s; eval "unset flexrack_s; $(printf %b "$flexrack_s")"'`
}

/**
 * The line that carries script and environment: the form that `printf %b` turns back into the text. Ends with a
 * newline.
 */
export function bootLine(script: string, env: Record<string, string> = {}): string {
  const exports = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new TypeError(`not a name for an environment variable: ${JSON.stringify(name)}`)
    return `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`
  })
  const text = exports.join('') + script
  if (text.includes('\0')) throw new TypeError('a script cannot hold a NUL byte')
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r') + '\n'
}

/**
 * Finds the end of start-up noise. Feed it chunks until it gives `rest`: what follows the nonce's line, and the process
 * id in that line.
 */
export class Preamble {
  readonly #nonce: string
  #held: Buffer = Buffer.alloc(0)

  constructor(nonce: string) {
    this.#nonce = nonce
  }

  /** Undefined while the nonce's line has not come whole. */
  feed(chunk: Buffer): {rest: Buffer; pid: string} | undefined {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    // With its number: a start-up file with `set -x` shows the command, nonce and all, before it runs.
    const found = new RegExp(`${this.#nonce} (\\d+)\n`).exec(this.#held.toString('latin1'))
    if (found) return {rest: this.#held.subarray(found.index + found[0].length), pid: found[1] as string}
    // Noise without end must not fill the memory; a nonce cut in two must still be found.
    if (this.#held.length > 1_048_576) this.#held = this.#held.subarray(-65_536)
    return undefined
  }

  /** What was said instead, where the nonce never came. */
  get noise(): string {
    return this.#held.toString()
  }
}
