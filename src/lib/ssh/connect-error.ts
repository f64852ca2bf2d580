import {CliError, isCliError, isOver} from '../base/index.ts'
import type {Endpoint} from './config.ts'
import type {Identities} from './identity.ts'
import {quote} from './quote.ts'

/**
 * NODE_UNREACHABLE with the reason in plain words, by the code of the operating system. `details.gone`: its time was
 * over.
 */
export function connectionError(
  endpoint: Endpoint,
  cause: {code?: unknown; message?: string; seconds?: number},
): CliError {
  const where = `${endpoint.host}:${endpoint.port}`
  const reasons: Record<string, string> = {
    DEADLINE: `${where} did not answer within ${cause.seconds} s`,
    ENOTFOUND: `there is no host named ${endpoint.host}`,
    EAI_AGAIN: `the name ${endpoint.host} cannot be resolved right now`,
    ECONNREFUSED: `nothing listens on ${where}`,
    ECONNRESET: `${where} closed the connection`,
    ETIMEDOUT: `${where} does not answer`,
    EHOSTUNREACH: `there is no route to ${where}`,
    ENETUNREACH: `there is no route to ${where}`,
  }
  const reason = reasons[String(cause.code)] ?? `${where}: ${cause.message || String(cause.code)}`
  const gone = isOver(endpoint.until)
  const what = gone
    ? `${endpoint.label} has gone: it was to be there until ${endpoint.until}`
    : `no connection to ${endpoint.label}`
  return new CliError('NODE_UNREACHABLE', `${what}: ${reason}`, {
    details: {
      ...(gone && {gone}),
      node: endpoint.label,
      host: endpoint.host,
      port: endpoint.port,
      reason: cause.message || String(cause.code),
    },
    hint:
      (gone || (cause.code === 'ECONNREFUSED' && endpoint.until === undefined) ? endpoint.wayOut : undefined) ??
      sshCommand(endpoint),
  })
}

/** AUTH_FAILED with every key that was offered, and those that could not be. */
export function authenticationError(endpoint: Endpoint, identities: Identities, cause: Error | undefined): CliError {
  const {offered, problems} = identities
  const keys =
    offered.length === 0
      ? 'there is no key to offer'
      : `it refused ${offered.length === 1 ? 'the key' : 'every key:'} ${offered.join(', ')}`
  const also = problems.length > 0 ? `; ${problems.join('; ')}` : ''
  const file = endpoint.identityFiles[0] ?? '~/.ssh/id_ed25519'
  return new CliError('AUTH_FAILED', `${endpoint.label} does not let ${endpoint.user} in: ${keys}${also}`, {
    details: {
      node: endpoint.label,
      user: endpoint.user,
      host: endpoint.host,
      port: endpoint.port,
      offered,
      problems,
      ...(cause ? {reason: cause.message} : {}),
    },
    hint: `ssh-copy-id -i ${quote([file])} ${endpoint.port === 22 ? '' : `-p ${endpoint.port} `}${quote([`${endpoint.user}@${endpoint.host}`])}`,
    cause,
  })
}

/** True for errors after which trying again may help: the link, not the node, is the trouble. */
export function isLinkTrouble(error: unknown): boolean {
  return isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT')
}

function sshCommand(endpoint: Endpoint): string {
  const jump = endpoint.jump ? ['-J', `${endpoint.jump.user}@${endpoint.jump.host}:${endpoint.jump.port}`] : []
  const key = endpoint.identitiesNamed && endpoint.identityFiles[0] ? ['-i', endpoint.identityFiles[0]] : []
  return quote([
    'ssh',
    ...jump,
    ...key,
    ...(endpoint.port === 22 ? [] : ['-p', String(endpoint.port)]),
    `${endpoint.user}@${endpoint.host}`,
    'true',
  ])
}
