import {Agent, request as securely} from 'node:https'
import {HEAD_NAME, type FollowConfig} from '../../types.ts'

const PATIENCE_MS = 10_000
const LARGEST_ANSWER = 64 * 1024 * 1024

/** The head said that this token opens nothing. */
export class Dismissed extends Error {}

/**
 * The way to another head: that which is followed, or that which decides. It is the one whose certificate the rack's
 * authority has signed for the name of heads, and nothing is sent before that is proved.
 */
export class FirstHead {
  readonly #url: string
  readonly #agent: Agent
  readonly #patience: number

  /** Without `ca` it is known by the certificates of the system, and by its own name. `patience`: milliseconds. */
  constructor({url}: Pick<FollowConfig, 'url'>, ca: string | undefined, patience = PATIENCE_MS) {
    this.#url = url
    this.#patience = patience
    const known = ca === undefined ? {} : {ca, servername: HEAD_NAME}
    this.#agent = new Agent({keepAlive: true, maxSockets: 2, ...known, minVersion: 'TLSv1.3'})
  }

  /** Errors: Dismissed; anything else says that there was no answer that counts. */
  ask(path: string, token: string, body: object): Promise<unknown> {
    const {promise, resolve, reject} = Promise.withResolvers<unknown>()
    const text = JSON.stringify(body)
    const request = securely(this.#url + path, {
      method: 'POST',
      agent: this.#agent,
      timeout: this.#patience,
      signal: AbortSignal.timeout(6 * this.#patience),
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      },
    })
    request.on('timeout', () => request.destroy(new Error(`no answer in ${this.#patience / 1000} s`)))
    request.on('error', (error: NodeJS.ErrnoException) => reject(new Error(error.message || error.code || 'no answer')))
    request.on('response', (answer) => {
      const chunks: Buffer[] = []
      let size = 0
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > LARGEST_ANSWER) request.destroy(new Error('the answer is too large'))
        else chunks.push(chunk)
      })
      answer.on('error', reject)
      answer.on('close', () => answer.complete || reject(new Error('the answer broke off')))
      answer.on('end', () => {
        const {statusCode} = answer
        if (statusCode === 401 || statusCode === 403) return reject(new Dismissed(`status ${statusCode}`))
        if (statusCode !== 200) return reject(new Error(`status ${statusCode}`))
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')))
        } catch {
          reject(new Error('the answer is no JSON'))
        }
      })
    })
    request.end(text)
    return promise
  }

  close(): void {
    this.#agent.destroy()
  }
}
