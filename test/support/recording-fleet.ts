import {PassThrough, type Readable} from 'node:stream'
import {loadProgram} from '../../src/lib/host/program.ts'
import type {Fleet, NodeShell, RemoteProcess} from '../../src/lib/ssh/index.ts'

/** A verb that a node was asked for, and the bytes that followed. */
export interface Requested {
  node: string
  verb: string
  input: Record<string, unknown>
  body: string
}

export interface RecordingFleet extends Fleet {
  requested: Requested[]
}

/**
 * Nodes that have the node program and do nothing: they keep what they are asked, and answer as `answers` says for the
 * verb.
 */
export function recordingFleet(
  answers: Record<string, (node: string, input: Record<string, unknown>) => unknown>,
): RecordingFleet {
  const requested: Requested[] = []
  const shellOf = (node: string): NodeShell =>
    ({
      node,
      run: async () => ['present', `/home/${node}`, `/home/${node}/environments`, '/usr/bin/python3', ''].join('\n'),
      exec: async () => ({status: 0, signal: null, stdout: '', stderr: ''}),
      spawn: async (script: string, {first}: {first: string}) => {
        const verb = /flexrack_node'? '?([a-z_]+\.[a-z_]+)'?/.exec(script)?.[1] ?? ''
        const input = (JSON.parse(first) ?? {}) as Record<string, unknown>
        const stdin = new PassThrough()
        const stdout = new PassThrough()
        const answer = (async () => {
          const body = await textOf(stdin)
          requested.push({node, verb, input, body})
          const answerOf = answers[verb]
          stdout.end(
            `${JSON.stringify(answerOf ? {result: answerOf(node, input) ?? null} : {error: {code: 'BUG', message: `${verb} is not played`}})}\n`,
          )
          return {status: 0, signal: null}
        })()
        const stderr = new PassThrough()
        stderr.end()
        return {stdin, stdout, stderr, exit: answer, kill() {}} satisfies RemoteProcess
      },
      closed: new Promise(() => {}),
    }) as unknown as NodeShell
  const shells = new Map<string, NodeShell>()
  return {
    requested,
    async shell(node) {
      await loadProgram()
      const shell = shells.get(node) ?? shellOf(node)
      shells.set(node, shell)
      return shell
    },
    async close() {},
  }
}

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('latin1')
}
