import {spawn} from 'node:child_process'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {CliError, isCliError} from './error.ts'

const ARMOR = 'SSH SIGNATURE'
const WIDTH = 70

/**
 * An SSH signature over bytes. `namespace`: what it is for, as one that was made for something else does not count.
 * `key`: a private key, or a public one whose private one the agent has; ssh-keygen asks for a passphrase by itself.
 * Errors: CHECK_FAILED, with what ssh-keygen says.
 */
export async function signWith(key: string, bytes: Buffer, namespace: string): Promise<Buffer> {
  const {status, stdout, stderr} = await sshKeygen(['-Y', 'sign', '-q', '-n', namespace, '-f', key], bytes)
  const armored = new RegExp(`-----BEGIN ${ARMOR}-----([\\sA-Za-z0-9+/=]+)-----END ${ARMOR}-----`).exec(stdout)?.[1]
  if (status !== 0 || armored === undefined)
    throw new CliError('CHECK_FAILED', `ssh-keygen does not sign with ${key}: ${lastLine(stderr)}`, {
      hint: '--key FILE: a private key, or the .pub of one that ssh-add -l lists',
    })
  return Buffer.from(armored.replace(/\s+/g, ''), 'base64')
}

/**
 * Whose signature it is: a principal of the allowed_signers file (ssh-keygen(1), ALLOWED SIGNERS). Undefined: of nobody
 * there, or of other bytes. Errors: NOT_FOUND where there is no such file.
 */
export async function signerOf(
  signature: Buffer,
  bytes: Buffer,
  signers: string,
  namespace: string,
): Promise<string | undefined> {
  return withFile(signature, async (file) => {
    const found = await sshKeygen(['-Y', 'find-principals', '-s', file, '-f', signers], Buffer.alloc(0))
    const [principal] = found.stdout.split('\n')[0]?.split(',') ?? []
    if (found.status !== 0 || !principal) return undefined
    const checked = await sshKeygen(
      ['-Y', 'verify', '-f', signers, '-I', principal, '-n', namespace, '-s', file],
      bytes,
    )
    return checked.status === 0 ? principal : undefined
  })
}

/** Whether the key that it names has made a signature of these bytes, whoever's key that is. */
export function isGood(signature: Buffer, bytes: Buffer, namespace: string): Promise<boolean> {
  return withFile(signature, async (file) => {
    const {status} = await sshKeygen(['-Y', 'check-novalidate', '-n', namespace, '-s', file], bytes)
    return status === 0
  })
}

async function withFile<T>(signature: Buffer, work: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-sig-'))
  try {
    const file = join(folder, 'sig')
    await writeFile(file, armor(signature), {mode: 0o600})
    return await work(file)
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

function armor(signature: Buffer): string {
  const lines = signature.toString('base64').match(new RegExp(`.{1,${WIDTH}}`, 'g')) ?? []
  return [`-----BEGIN ${ARMOR}-----`, ...lines, `-----END ${ARMOR}-----`, ''].join('\n')
}

async function sshKeygen(
  words: string[],
  input: Buffer,
): Promise<{status: number | null; stdout: string; stderr: string}> {
  try {
    return await run(words, input)
  } catch (error) {
    if (isCliError(error)) throw error
    throw new CliError('CHECK_FAILED', `ssh-keygen cannot be started: ${(error as Error).message}`, {
      hint: 'install OpenSSH 8.9 or newer',
      cause: error,
    })
  }
}

function run(words: string[], input: Buffer): Promise<{status: number | null; stdout: string; stderr: string}> {
  return new Promise((resolve, reject) => {
    const child = spawn('ssh-keygen', words, {stdio: ['pipe', 'pipe', 'pipe']})
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()))
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()))
    child.on('error', reject)
    child.on('close', (status) => resolve({status, stdout, stderr}))
    child.stdin.on('error', () => {}) // it has ended before it has read all: its status says why
    child.stdin.end(input)
  })
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? 'it says nothing'
}
