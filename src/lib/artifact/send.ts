import {createReadStream} from 'node:fs'
import {stat} from 'node:fs/promises'
import {Readable} from 'node:stream'
import type {Context} from '../base/index.ts'
import type {Host, Verb} from '../host/index.ts'
import type {Verbs} from '../protocol/index.ts'

/** A file of this machine, and the verb of the node program that takes it as its body with this input. */
export interface Sending<V extends Verb> {
  file: string
  verb: V
  input: Verbs[V]['input']
  /** What people see while it goes. */
  title: string
}

/** Sends one file as it is; progress in bytes. Errors: those of the verb, and of reading the file. */
export async function sendFile<V extends Verb>(
  host: Host,
  {file, verb, input, title}: Sending<V>,
  context: Context,
): Promise<void> {
  const {size} = await stat(file)
  const progress = context.reporter.begin(title, host.node)
  const body = Readable.from(counted(createReadStream(file), (sent) => progress.amount(sent, size, 'bytes')))
  try {
    await host.call(verb, input, {body, signal: context.signal})
  } catch (error) {
    progress.fail()
    throw error
  }
  progress.done()
}

async function* counted(source: Readable, tell: (bytes: number) => void): AsyncGenerator<Buffer> {
  let sent = 0
  for await (const chunk of source) {
    sent += (chunk as Buffer).length
    tell(sent)
    yield chunk as Buffer
  }
}
