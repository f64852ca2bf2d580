import {spawn, type ChildProcess} from 'node:child_process'
import {readFileSync} from 'node:fs'
import type {Readable} from 'node:stream'
import {statFields, type Context} from '../../lib/base/index.ts'
import {divertSignals} from '../base/context.ts'
import {suspendProgress} from '../progress/reporter.ts'

export interface LocalResult {
  /** Exit status, or null where a signal ended it. */
  status: number | null
  /** Signal name without SIG. */
  signal: string | null
  /** Only where it was asked for. */
  stdout: string
  stderr: string
}

/**
 * Runs a command of this machine with our stdin, stdout and stderr, or with `capture` keeps what it says. Signals are
 * the command's: Ctrl-C reaches it from the terminal itself, what else is sent to us is passed on. `asked`: there was
 * one, so somebody wanted it to end.
 */
export async function runHere(
  words: string[],
  env: NodeJS.ProcessEnv,
  context: Context,
  capture: boolean,
): Promise<LocalResult & {asked: boolean}> {
  return suspendProgress(async () => {
    const [program, ...args] = words as [string, ...string[]]
    const child = spawn(program, args, {
      env,
      stdio: ['inherit', capture ? 'pipe' : 'inherit', capture ? 'pipe' : 'inherit'],
    })
    let asked = false
    const release = divertSignals(context, (signal) => {
      asked = true
      if (signal !== 'SIGINT' || !isForeground()) child.kill(signal)
    })
    try {
      const [ending, stdout, stderr] = await Promise.all([ended(child), text(child.stdout), text(child.stderr)])
      return {...ending, stdout, stderr, asked}
    } finally {
      release()
    }
  })
}

function ended(child: ChildProcess): Promise<Pick<LocalResult, 'status' | 'signal'>> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, signal) => resolve({status, signal: signal?.replace(/^SIG/, '') ?? null}))
  })
}

async function text(stream: Readable | null): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream ?? []) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Whether a terminal sends its Ctrl-C to our whole process group, and so to the command too (proc(5): pgrp, tpgid). */
function isForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    const fields = statFields(stat)
    return fields[2] === fields[5]
  } catch {
    return process.stdin.isTTY
  }
}
