import {watch, type FSWatcher} from 'node:fs'
import {posix, join} from 'node:path'
import {CliError} from '../base/index.ts'
import type {Snapshot} from './snapshot.ts'

/**
 * Notices that something in a project's folders may have changed; what it was, a snapshot tells. One watch a folder
 * that the patterns leave in (inotify on Linux), so that what a build or a data set does elsewhere wakes nobody.
 */
export class Notice {
  readonly #root: string
  readonly #onChange: () => void
  readonly #watches = new Map<string, FSWatcher>()

  constructor(root: string, onChange: () => void) {
    this.#root = root
    this.#onChange = onChange
  }

  /**
   * Watches the folders of this snapshot, and no others. True where some are new: what was written to them before is
   * only seen by another look. Errors: CHECK_FAILED where the system allows no more watches.
   */
  follow({entries}: Snapshot): boolean {
    const wanted = new Set([''])
    for (const [path, {kind}] of entries) {
      if (kind === 'd') wanted.add(path)
      for (let at = posix.dirname(path); at !== '.' && !wanted.has(at); at = posix.dirname(at)) wanted.add(at)
    }
    for (const [path, one] of this.#watches) {
      if (wanted.has(path)) continue
      one.close()
      this.#watches.delete(path)
    }
    const before = this.#watches.size
    for (const path of wanted) if (!this.#watches.has(path)) this.#begin(path)
    return this.#watches.size > before
  }

  close(): void {
    for (const one of this.#watches.values()) one.close()
    this.#watches.clear()
  }

  #begin(path: string): void {
    try {
      const one = watch(join(this.#root, path), {persistent: false}, this.#onChange)
      one.on('error', () => this.#end(path)) // it was removed: its parent's watch tells
      this.#watches.set(path, one)
    } catch (error) {
      const {code} = error as {code?: string}
      if (code === 'ENOENT' || code === 'ENOTDIR') return
      if (code !== 'ENOSPC' && code !== 'EMFILE') throw error
      throw new CliError('CHECK_FAILED', `this system lets nobody watch more folders than ${this.#watches.size}`, {
        hint: 'sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512\nexclude folders with many others in workspace.sync.exclude',
      })
    }
  }

  #end(path: string): void {
    this.#watches.get(path)?.close()
    this.#watches.delete(path)
    this.#onChange()
  }
}
