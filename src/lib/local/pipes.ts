import {execFile} from 'node:child_process'
import {closeSync, constants, mkdirSync, openSync, rmSync, unlinkSync} from 'node:fs'
import {Socket} from 'node:net'
import {join} from 'node:path'
import {promisify} from 'node:util'

export interface Pipe {
  /** For the child; close it here once the child has it. */
  childEnd: number
  ours: Socket
}

const BATCH = 96

/**
 * Real pipes for processes, as sshd gives them. What Node makes under that name are sockets, and a socket cannot be
 * opened by name: `echo >/dev/stderr` and `tee /dev/stdout` would fail on our nodes and work on real ones.
 */
export class PipePool {
  readonly #folder: string
  #names: string[] = []
  #made = 0
  #making: Promise<void> | undefined

  /** `folder` is the pool's alone: what is in it is left from an earlier life, and removed. */
  constructor(folder: string) {
    this.#folder = folder
    rmSync(folder, {recursive: true, force: true})
    mkdirSync(folder, {mode: 0o700})
  }

  /** A pipe that the child reads from, or writes to. Throws where named pipes cannot be made. */
  async open(childDoes: 'read' | 'write'): Promise<Pipe> {
    while (this.#names.length === 0) await (this.#making ??= this.#make())
    const name = this.#names.pop() as string
    const {O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY} = constants
    // Opened both ways first, so that neither of the ends has to wait for the other to be opened.
    const holder = openSync(name, O_RDWR | O_NONBLOCK)
    try {
      const childEnd = openSync(name, childDoes === 'read' ? O_RDONLY : O_WRONLY)
      const fd = openSync(name, (childDoes === 'read' ? O_WRONLY : O_RDONLY) | O_NONBLOCK)
      return {childEnd, ours: new Socket({fd, readable: childDoes === 'write', writable: childDoes === 'read'})}
    } finally {
      closeSync(holder)
      unlinkSync(name)
    }
  }

  close(): void {
    rmSync(this.#folder, {recursive: true, force: true})
  }

  async #make(): Promise<void> {
    try {
      const names = Array.from({length: BATCH}, () => join(this.#folder, String(this.#made++)))
      await promisify(execFile)('mkfifo', ['-m', '600', ...names])
      this.#names.push(...names)
    } finally {
      this.#making = undefined
    }
  }
}
