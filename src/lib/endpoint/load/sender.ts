import {Agent as PlainAgent, request as plainRequest, type IncomingMessage, type RequestOptions} from 'node:http'
import {Agent as TlsAgent, request as tlsRequest} from 'node:https'
import {performance} from 'node:perf_hooks'
import type {Secret} from '../../base/index.ts'
import type {Call} from '../call.ts'
import type {Sample} from './drive.ts'

export interface Target {
  /** The endpoint's address. */
  url: string
  /** Certificates (PEM) that are trusted there, and no others. */
  ca: string | undefined
  token: Secret
}

/** Sends one call again and again, over connections that are kept. The token goes into a header only. */
export class Sender {
  readonly #options: RequestOptions
  readonly #agent: PlainAgent | TlsAgent
  readonly #send: typeof plainRequest
  readonly #body: Buffer

  constructor({url, ca, token}: Target, call: Call, timeoutMs: number) {
    const target = new URL(`${url}${call.path}`)
    const isTls = target.protocol === 'https:'
    const kept = {keepAlive: true, maxSockets: Infinity, scheduling: 'lifo'} as const
    this.#agent = isTls ? new TlsAgent({...kept, ...(ca !== undefined && {ca})}) : new PlainAgent(kept)
    this.#send = isTls ? tlsRequest : plainRequest
    this.#body = call.body
    this.#options = {
      host: target.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: target.port,
      path: target.pathname,
      method: 'POST',
      agent: this.#agent,
      timeout: timeoutMs,
      headers: {
        authorization: `Bearer ${token.reveal()}`,
        'content-type': call.type,
        'content-length': call.body.length,
      },
    }
  }

  /** Never rejects. */
  send(signal: AbortSignal): Promise<Sample> {
    return new Promise((resolve) => {
      const begun = performance.now()
      const fail = (error: NodeJS.ErrnoException): void =>
        resolve({failed: signal.aborted ? 'interrupted' : (error.code ?? error.message)})
      const call = this.#send({...this.#options, signal}, (answer: IncomingMessage) => {
        let first: number | undefined
        answer.on('data', () => (first ??= performance.now() - begun))
        answer.once('end', () => {
          const whole = performance.now() - begun
          const {statusCode = 0} = answer
          resolve(statusCode < 300 ? {first: first ?? whole, whole} : {failed: `status ${statusCode}`})
        })
        answer.once('error', fail)
      })
      call.once('timeout', () => call.destroy(Object.assign(new Error('no answer'), {code: 'no answer in time'})))
      call.once('error', fail)
      call.end(this.#body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
