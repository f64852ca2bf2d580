import {CliError} from '../base/index.ts'
import type {Endpoint} from './config.ts'
import {checkHostKey, fingerprint, keyTypeOf, readKnownHosts, entriesFor, type KnownHost} from './known-hosts.ts'
import {recordHostKey} from './known-hosts-record.ts'
import {quote} from './quote.ts'
import type {Deadline, Questions} from './questions.ts'
import type {FleetOptions} from './types.ts'

/** Types of the keys that are known for an endpoint: those are asked of the server first. */
export async function knownKeyTypes(endpoint: Endpoint): Promise<Set<string>> {
  const mine = entriesFor(await readAll(endpoint), endpoint.knownAs).filter((entry) => entry.marker === undefined)
  return new Set(mine.map((entry) => entry.keyType))
}

/** Returns if the key is, or has just become, trusted. Throws HOST_KEY_UNKNOWN or HOST_KEY_CHANGED. */
export async function verifyHostKey(
  endpoint: Endpoint,
  key: Buffer,
  options: FleetOptions,
  questions: Questions,
  deadline: Deadline,
): Promise<void> {
  const judge = async (): Promise<KnownHost | undefined | true> => {
    const verdict = checkHostKey(await readAll(endpoint), endpoint.knownAs, key, endpoint.bareName)
    if (verdict.verdict === 'known') return true
    if (verdict.verdict === 'changed') throw changed(endpoint, key, verdict.expected)
    if (verdict.verdict === 'revoked') throw revoked(endpoint, key, verdict.by)
    return verdict.authority
  }
  const authority = await judge()
  if (authority === true) return
  const file = endpoint.knownHostsFiles[0]
  const settle = async (): Promise<void> => {
    // Somebody may have recorded it while this question waited for its turn: a node with two names, or another command.
    if ((await judge()) === true) return
    const question = {
      node: endpoint.label,
      host: endpoint.knownAs,
      keyType: keyTypeOf(key),
      fingerprint: fingerprint(key),
      file: file ?? '',
    }
    if (file === undefined || !(options.trustNew || (await options.askTrust?.(question))))
      throw unknown(endpoint, key, authority)
    await recordHostKey(file, endpoint.knownAs, key, endpoint.hashKnownHosts)
  }
  if (options.trustNew || options.askTrust) await deadline.pausedFor(questions.next(settle))
  else throw unknown(endpoint, key, authority)
}

function readAll(endpoint: Endpoint): Promise<KnownHost[]> {
  return readKnownHosts([...endpoint.knownHostsFiles, ...endpoint.globalKnownHostsFiles])
}

function unknown(endpoint: Endpoint, key: Buffer, authority: KnownHost | undefined): CliError {
  const shown = `${keyTypeOf(key)} ${fingerprint(key)}`
  const why = authority
    ? ` (${authority.file}:${authority.line} trusts a certificate authority for it, which flexrack cannot check)`
    : ''
  return new CliError(
    'HOST_KEY_UNKNOWN',
    `the host key of ${endpoint.label} is not known${why}: ${shown}; the node itself tells with: ssh-keygen -lf /etc/ssh/ssh_host_${shortType(key)}_key.pub`,
    {
      details: {...facts(endpoint, key), knownHosts: endpoint.knownHostsFiles},
      hint: `ssh-keyscan -p ${endpoint.port} ${endpoint.host} >> ${quote([endpoint.knownHostsFiles[0] ?? 'FILE'])}`,
    },
  )
}

function changed(endpoint: Endpoint, key: Buffer, expected: KnownHost[]): CliError {
  // The entry of the same type tells most; without one, any.
  const entry = (expected.find((one) => one.keyType === keyTypeOf(key)) ?? expected[0]) as KnownHost
  return new CliError(
    'HOST_KEY_CHANGED',
    `${endpoint.label} shows the host key ${keyTypeOf(key)} ${fingerprint(key)}, but ${entry.file}:${entry.line} has ${entry.keyType} ${fingerprint(entry.key)}; forget the old one only if you know why it changed`,
    {
      details: {
        ...facts(endpoint, key),
        expected: expected.map((one) => ({
          file: one.file,
          line: one.line,
          keyType: one.keyType,
          fingerprint: fingerprint(one.key),
        })),
      },
      hint: `ssh-keygen -R ${quote([endpoint.knownAs])} -f ${quote([entry.file])}`,
    },
  )
}

function revoked(endpoint: Endpoint, key: Buffer, by: KnownHost): CliError {
  return new CliError(
    'HOST_KEY_CHANGED',
    `${endpoint.label} shows the host key ${keyTypeOf(key)} ${fingerprint(key)}, which ${by.file}:${by.line} revokes`,
    {details: facts(endpoint, key)},
  )
}

/** As in the names of sshd's key files: rsa, ecdsa, ed25519. */
function shortType(key: Buffer): string {
  return /rsa|ecdsa/.exec(keyTypeOf(key))?.[0] ?? 'ed25519'
}

function facts(endpoint: Endpoint, key: Buffer): Record<string, unknown> {
  return {
    node: endpoint.label,
    host: endpoint.host,
    port: endpoint.port,
    keyType: keyTypeOf(key),
    fingerprint: fingerprint(key),
  }
}
