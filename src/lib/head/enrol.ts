import {setTimeout as pause} from 'node:timers/promises'
import {isCliError, throwIfInterrupted} from '../base/index.ts'
import {connectHead, type HeadConnection} from './connect.ts'
import type {HeadEnv} from './steps.ts'
import {firstOfTwo} from './superseded.ts'

const ANSWER_MS = 60_000
const LOOK_MS = 300

/** `names`: what the standby is called by. `called`: what it calls the head by. */
export type EnrolInput = {node: string; names: string[]; called: string}

/**
 * Gives a standby what it follows with: a token of its own at the head, unless it has one for these names, and what it
 * trusts. Tokens of other standbys end. Errors: those of connectHead.
 */
export async function enrol(
  {node, names, called}: EnrolInput,
  _done: unknown,
  {rack, fleet, host, context}: HeadEnv,
): Promise<{url: string; ca: string}> {
  const head = await answering(() => connectHead(rack, fleet, context), context.signal)
  try {
    const standby = await host(node)
    const {follows} = await standby.call('head.access', {})
    const {port, followers = []} = await firstOfTwo(head, {rack, fleet, context})
    const same = (one: {node: string; names: string[]}): boolean =>
      one.node === node && String(one.names) === String(names)
    let own = followers.find((one) => one.id === follows && same(one))?.id
    if (own === undefined) {
      const body = {kind: 'standby', node, names}
      const made = await head.request<{id: string; token: string}>('POST', '/flexrack/v1/tokens', body)
      await standby.call('head.follow', {token: made.token, ca: head.ca})
      own = made.id
    }
    await endFollowers(
      head,
      followers.filter(({id}) => id !== own),
    )
    return {url: `https://${called}:${port}`, ca: head.ca}
  } finally {
    await head.close()
  }
}

/** What they show opens nothing any more; they serve nothing once they hear of it. */
export async function endFollowers(head: HeadConnection, followers: {id: string}[]): Promise<void> {
  for (const {id} of followers) {
    await head.request('DELETE', `/flexrack/v1/tokens/${encodeURIComponent(id)}`).catch((error: unknown) => {
      if (!isCliError(error, 'NOT_FOUND')) throw error
    })
  }
}

/** A head that was just started takes a moment. */
async function answering(connect: () => Promise<HeadConnection>, signal: AbortSignal): Promise<HeadConnection> {
  for (const until = Date.now() + ANSWER_MS; ;) {
    throwIfInterrupted(signal)
    try {
      const head = await connect()
      try {
        await head.request('GET', '/flexrack/v1/status')
        return head
      } catch (error) {
        await head.close()
        throw error
      }
    } catch (error) {
      if (Date.now() > until || !isCliError(error, 'NOT_FOUND', 'NODE_UNREACHABLE', 'TIMED_OUT')) throw error
    }
    await pause(LOOK_MS)
  }
}
