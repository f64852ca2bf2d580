import {request as plainly} from 'node:http'
import {request as securely} from 'node:https'
import {Failure} from '../failure.ts'
import type {Parts} from '../parts.ts'
import {checkFront} from '../tls/front-name.ts'

const PATIENCE_MS = 5000

/** How a model server answers the gateway; `connected`: somebody took the connection. */
export interface Reached {
  reached: boolean
  connected: boolean
  why?: string
}

/** {url, path}: whether a model server answers the gateway there; it is asked as the gateway asks. */
export async function tryReach(
  parts: Pick<Parts, 'authority'>,
  {url, path}: Record<string, unknown>,
): Promise<{reached: boolean; why?: string}> {
  const whole =
    typeof url === 'string' && typeof path === 'string' && path.startsWith('/') ? url.replace(/\/$/, '') + path : ''
  if (!URL.canParse(whole) || !/^https?:$/.test(new URL(whole).protocol))
    throw new Failure(400, 'USAGE', 'url must be http:// or https://, and path begin with /')
  const {connected: _, ...answer} = await reach(parts, whole)
  return answer
}

/** Whether what is at a URL answers the gateway with 200. */
export async function reach({authority}: Pick<Parts, 'authority'>, url: string): Promise<Reached> {
  const {key, certificate} = await authority.gateway()
  return new Promise((resolve) => {
    let connected = false
    const refused = (error: Error): void =>
      resolve({reached: false, connected, why: error.message || (error as NodeJS.ErrnoException).code || 'no answer'})
    const options = {method: 'GET', timeout: PATIENCE_MS, agent: false}
    const isSecure = url.startsWith('https:')
    const secure = {key, cert: certificate, ca: authority.trusted, checkServerIdentity: checkFront}
    const request = isSecure ? securely(url, {...options, ...secure}) : plainly(url, options)
    request.on('socket', (socket) =>
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        connected = true
      }),
    )
    request.on('response', (answer) => {
      answer.resume()
      const reached = answer.statusCode === 200
      resolve({reached, connected, ...(!reached && {why: `status ${answer.statusCode}`})})
    })
    request.on('timeout', () => request.destroy(new Error(`no answer in ${PATIENCE_MS / 1000} s`)))
    request.on('error', refused)
    request.end()
  })
}
