import type {BaseAgent, ParsedKey} from 'ssh2'
import {CliError, type Secret} from '../base/index.ts'
import type {Endpoint} from './config.ts'
import {readKeyFile, unlockKey} from './key-file.ts'
import {fingerprint} from './known-hosts.ts'
import type {Deadline, Questions} from './questions.ts'
import type {FleetOptions} from './types.ts'

type Sign = (data: Buffer, hash: string | undefined) => Promise<Buffer>

/** A key that can be offered. It signs only when the server has said that it would accept it. */
interface Candidate {
  key: ParsedKey
  label: string
  sign: Sign
}

/** The keys for one connection in the order they are offered, and what became of them. */
export interface Identities {
  agent: BaseAgent
  /** For messages: `path or agent comment (fingerprint)`. */
  offered: string[]
  /** Why keys that were named cannot be used. */
  problems: string[]
  /** Set when a key that the server would take could not be used. */
  failure(): CliError | undefined
}

/** Keys unlocked so far: a passphrase is asked once a file, however many nodes want it. */
export class KeyRing {
  readonly #options: FleetOptions
  readonly #questions: Questions
  readonly #unlocked = new Map<string, Promise<ParsedKey>>()

  constructor(options: FleetOptions, questions: Questions) {
    this.#options = options
    this.#questions = questions
  }

  unlock(path: string, text: string, label: string): Promise<ParsedKey> {
    let key = this.#unlocked.get(path)
    if (!key) {
      key = this.#questions.next(() => this.#ask(path, text, label))
      this.#unlocked.set(path, key)
      // Asked again only when the connection is tried again.
      key.catch(() => this.#unlocked.delete(path))
    }
    return key
  }

  async #ask(path: string, text: string, label: string): Promise<ParsedKey> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const passphrase: Secret | undefined = await this.#options.askPassphrase?.(path)
      if (passphrase === undefined) break
      const key = await unlockKey(text, passphrase.reveal())
      if (key) return key
    }
    const how = this.#options.askPassphrase ? 'and was not unlocked' : 'and there is no terminal to ask for it'
    throw new CliError('AUTH_FAILED', `the key ${path} for ${label} has a passphrase, ${how}`, {
      details: {node: label, key: path},
      hint: `eval "$(ssh-agent)" && ssh-add ${path}`,
    })
  }
}

/**
 * Collects what ssh would offer, best first: named keys that the agent holds or that are open, the agent's other keys,
 * then locked keys, whose passphrase is asked only when the server would accept the key.
 */
export async function collectIdentities(endpoint: Endpoint, ring: KeyRing, deadline: Deadline): Promise<Identities> {
  const {default: ssh2} = await import('ssh2')
  const problems: string[] = []
  const held = await agentKeys(endpoint, problems)
  const ready: Candidate[] = []
  const locked: Candidate[] = []
  for (const path of new Set(endpoint.identityFiles)) {
    const file = await readKeyFile(path)
    const inAgent =
      'key' in file && file.key
        ? held.find((one) => one.key.getPublicSSH().equals((file.key as ParsedKey).getPublicSSH()))
        : undefined
    if (inAgent) ready.push({...inAgent, label: path})
    else if (file.state === 'open')
      ready.push({key: file.key, label: path, sign: async (data, hash) => signWith(file.key, data, hash)})
    else if (file.state === 'locked') {
      const unlock = (): Promise<ParsedKey> => deadline.pausedFor(ring.unlock(path, file.text, endpoint.label))
      const key = file.key ?? (await unlock())
      locked.push({key, label: path, sign: async (data, hash) => signWith(await unlock(), data, hash)})
    } else if (file.state === 'public')
      problems.push(`${path}: only its public half is here, and the agent does not hold it`)
    else if (endpoint.identitiesNamed) problems.push(`${path}: ${file.reason}`)
  }
  const used = new Set(ready.map((one) => one.key.getPublicSSH().toString('base64')))
  const others = endpoint.identitiesOnly
    ? []
    : held.filter((one) => !used.has(one.key.getPublicSSH().toString('base64')))
  const candidates = [...ready, ...others, ...locked]

  let failure: CliError | undefined
  class Ours extends ssh2.BaseAgent<ParsedKey> {
    override getIdentities(done: (error: Error | undefined, keys?: ParsedKey[]) => void): void {
      done(
        undefined,
        candidates.map((one) => one.key),
      )
    }

    override sign(
      key: ParsedKey,
      data: Buffer,
      options: unknown,
      done?: (error: Error | undefined, signature?: Buffer) => void,
    ): void {
      const reply = (typeof options === 'function' ? options : done) as (
        error: Error | undefined,
        signature?: Buffer,
      ) => void
      const candidate = candidates.find((one) => one.key.getPublicSSH().equals(key.getPublicSSH()))
      const hash = (options as {hash?: string} | undefined)?.hash
      const signing = candidate ? candidate.sign(data, hash) : Promise.reject(new Error('no such key'))
      signing.then(
        (signature) => reply(undefined, signature),
        (error: Error) => {
          if (error instanceof CliError) failure ??= error
          else problems.push(`${candidate?.label ?? 'agent'}: ${error.message}`)
          reply(error)
        },
      )
    }
  }
  return {
    agent: new Ours(),
    problems,
    offered: candidates.map((one) => `${one.label} (${fingerprint(one.key.getPublicSSH())})`),
    failure: () => failure,
  }
}

async function agentKeys(endpoint: Endpoint, problems: string[]): Promise<Candidate[]> {
  if (endpoint.agent === undefined) return []
  const {default: ssh2} = await import('ssh2')
  const agent = new ssh2.OpenSSHAgent(endpoint.agent)
  const keys = await new Promise<ParsedKey[]>((resolve) => {
    agent.getIdentities((error, found) => {
      if (error) problems.push(`the agent at ${endpoint.agent} does not answer: ${error.message}`)
      resolve(error ? [] : ((found ?? []) as ParsedKey[])) // always parsed: ssh2's own agent does that
    })
  })
  return keys.map((key) => ({
    key,
    label: `${key.comment || 'a key'} of the agent`,
    sign: (data, hash) =>
      new Promise<Buffer>((resolve, reject) => {
        agent.sign(key, data, hash === undefined ? {} : {hash: hash as 'sha256' | 'sha512'}, (error, signature) =>
          error || !signature ? reject(error ?? new Error('no signature')) : resolve(signature),
        )
      }),
  }))
}

function signWith(key: ParsedKey, data: Buffer, hash: string | undefined): Buffer {
  const signature: Buffer | Error = key.sign(data, hash)
  if (signature instanceof Error) throw signature
  return signature
}
