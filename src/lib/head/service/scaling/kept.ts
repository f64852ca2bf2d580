import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import type {HeadScaling} from '../../../protocol/index.ts'
import {openDurables, Turns, writeDurably} from '../files/durable.ts'
import {logLine} from '../log.ts'

/** Which servers of an endpoint are to run: a file each, so that a head that starts again leaves them alone. */
export class KeptScaling {
  readonly #folder: string
  readonly #found: Map<string, HeadScaling>
  readonly #turns = new Turns()

  private constructor(folder: string, found: Map<string, HeadScaling>) {
    this.#folder = folder
    this.#found = found
  }

  static async open(headFolder: string): Promise<KeptScaling> {
    const folder = join(headFolder, 'scaling')
    return new KeptScaling(folder, await openDurables('head.scaling', folder))
  }

  of(endpoint: string): HeadScaling | undefined {
    return this.#found.get(endpoint)
  }

  /** In memory at once, on disk soon: a full disk keeps nobody from having a server. */
  keep(endpoint: string, value: HeadScaling): void {
    this.#found.set(endpoint, value)
    void this.#turns
      .take(async () => {
        if (this.#found.get(endpoint) === value) await writeDurably('head.scaling', this.#fileOf(endpoint), value)
      })
      .catch((error: Error) => logLine(`which servers of endpoint ${endpoint} run was not kept: ${error.message}`))
  }

  forget(endpoint: string): void {
    if (!this.#found.delete(endpoint)) return
    void this.#turns
      .take(() => rm(this.#fileOf(endpoint), {force: true}))
      .catch((error: Error) => logLine(`${this.#fileOf(endpoint)} is left: ${error.message}`))
  }

  #fileOf(endpoint: string): string {
    return join(this.#folder, `${endpoint}.json`)
  }
}
