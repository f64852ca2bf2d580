import {request as plainly} from 'node:http'
import {request as securely} from 'node:https'
import {Failure} from './failure.ts'
import type {Parts} from './parts.ts'
import {checkFront} from './tls/front-name.ts'

const PATIENCE_MS = 5000

/** {url, path}: whether a model server answers the gateway there; it is asked as the gateway asks. */
export async function tryReach(
  {authority}: Parts,
  {url, path}: Record<string, unknown>,
): Promise<{reached: boolean; why?: string}> {
  const whole =
    typeof url === 'string' && typeof path === 'string' && path.startsWith('/') ? url.replace(/\/$/, '') + path : ''
  if (!URL.canParse(whole) || !/^https?:$/.test(new URL(whole).protocol))
    throw new Failure(400, 'USAGE', 'url must be http:// or https://, and path begin with /')
  const {key, certificate} = await authority.gateway()
  return new Promise((resolve) => {
    const refused = (error: Error): void =>
      resolve({reached: false, why: error.message || (error as NodeJS.ErrnoException).code || 'no answer'})
    const options = {method: 'GET', timeout: PATIENCE_MS, agent: false}
    const request = whole.startsWith('https:')
      ? securely(whole, {
          ...options,
          key,
          cert: certificate,
          ca: authority.trusted,
          checkServerIdentity: checkFront,
        })
      : plainly(whole, options)
    request.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200 ? {reached: true} : {reached: false, why: `status ${answer.statusCode}`})
    })
    request.on('timeout', () => request.destroy(new Error(`no answer in ${PATIENCE_MS / 1000} s`)))
    request.on('error', refused)
    request.end()
  })
}
