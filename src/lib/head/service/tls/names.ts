import {hostname} from 'node:os'
import {HEAD_NAME, type ServiceConfig} from '../../types.ts'

/** Host names and addresses that the head's certificate is for. */
export function ownNames(config: ServiceConfig): string[] {
  const called = [
    HEAD_NAME,
    'localhost',
    '127.0.0.1',
    '::1',
    config.host ?? '',
    config.bind,
    hostname(),
    ...(config.names ?? []),
  ]
  // An address that stands for all is not called; what is neither an address nor a name of the DNS cannot stand in a
  // certificate.
  return [...new Set(called.map((one) => one.toLowerCase()))].filter(
    (one) => /^[A-Za-z0-9.:-]+$/.test(one) && !['0.0.0.0', '::'].includes(one),
  )
}
