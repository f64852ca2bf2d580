import {closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Message} from '../../src/lib/host/call.ts'

let folder: string | undefined
let offset = 0

/** For programs of ours that a test starts: they write down every message between them and a node. */
export function recorded(): NodeJS.ProcessEnv {
  folder ??= mkdtempSync(join(tmpdir(), 'flexrack-messages-'))
  return {
    NODE_OPTIONS: `--require=${join(import.meta.dirname, 'record-messages.cjs')}`,
    FLEXRACK_RECORD_MESSAGES: join(folder, 'messages.jsonl'),
  }
}

/** What they have written since it was last asked for; a line that is not yet whole comes the next time. */
export function readRecorded(): Message[] {
  if (!folder) return []
  let file: number
  try {
    file = openSync(join(folder, 'messages.jsonl'), 'r')
  } catch {
    return [] // nobody has called a node
  }
  try {
    const data = Buffer.alloc(fstatSync(file).size - offset)
    readSync(file, data, 0, data.length, offset)
    const whole = data.lastIndexOf('\n') + 1
    offset += whole
    return data
      .subarray(0, whole)
      .toString()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Message)
  } finally {
    closeSync(file)
  }
}

/** The next file of this process begins anew. */
export function removeRecorded(): void {
  if (folder) rmSync(folder, {recursive: true, force: true})
  folder = undefined
  offset = 0
}
