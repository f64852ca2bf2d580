import {StringDecoder} from 'node:string_decoder'
import {CliError, isCliError} from '../base/index.ts'
import {followServiceLog} from '../host/index.ts'
import {activeRelease, type Replica} from './document.ts'
import {hostOf, type Site} from './site.ts'
import {requireEndpoint} from './store.ts'

export interface EndpointLogInput {
  name: string
  /** Default: the active release, else the newest. */
  release?: string
  follow: boolean
  /** Bytes from the end to begin at, for each server. */
  tail: number
  onLine: (line: LogLine) => void
}

export interface LogLine {
  node: string
  service: string
  text: string
}

/** The servers' logs, line by line, of all replicas at once. With follow, until they have ended or Ctrl-C. */
export async function readEndpointLogs(site: Site, input: EndpointLogInput): Promise<void> {
  const {document} = await requireEndpoint(site.head, input.name)
  const wanted = input.release
    ? document.releases.find((one) => one.id === input.release)
    : (activeRelease(document) ?? document.releases[0])
  if (!wanted) {
    throw new CliError(
      'NOT_FOUND',
      `endpoint ${input.name} has no release${input.release ? ` ${input.release}` : ''}`,
      {hint: `flexrack endpoint show ${input.name}`, details: {releases: document.releases.map((one) => one.id)}},
    )
  }
  await Promise.all(wanted.replicas.map((replica) => readOne(site, replica, input)))
}

async function readOne(site: Site, replica: Replica, input: EndpointLogInput): Promise<void> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  const {node, service} = replica
  const onData = (chunk: Buffer): void => {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const text of lines) input.onLine({node, service, text})
  }
  try {
    await followServiceLog(await hostOf(site, node), service, {
      tail: input.tail,
      follow: input.follow,
      signal: site.context.signal,
      onData,
    })
  } catch (error) {
    if (isCliError(error, 'INTERRUPTED') && input.follow) return // Ctrl-C is how a follow ends
    if (!isCliError(error, 'NOT_FOUND')) throw error
    site.context.reporter.warn(`the log of ${service} on ${node} is not kept any more`)
  }
  if (rest !== '') input.onLine({node, service, text: rest})
}
