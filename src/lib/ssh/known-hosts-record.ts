import {createHmac, randomBytes} from 'node:crypto'
import {appendFile, mkdir, open, rm, stat} from 'node:fs/promises'
import {dirname} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {textIfThere} from '../base/index.ts'
import {checkHostKey, keyTypeOf, readKnownHosts} from './known-hosts.ts'

/** A lock this old was left by a process that was killed: what it guards takes milliseconds. */
const STALE_MS = 10_000

/** Adds a key to a known_hosts file (made with 0600, its folder with 0700). Two processes at once add it once. */
export async function recordHostKey(file: string, name: string, key: Buffer, hashed: boolean): Promise<void> {
  await mkdir(dirname(file), {recursive: true, mode: 0o700})
  const unlock = await lock(`${file}.flexrack-lock`)
  try {
    if (checkHostKey(await readKnownHosts([file]), name, key).verdict === 'known') return
    const text = (await textIfThere(file)) ?? ''
    const newline = text === '' || text.endsWith('\n') ? '' : '\n'
    await appendFile(
      file,
      `${newline}${hashed ? hashName(name) : name} ${keyTypeOf(key)} ${key.toString('base64')}\n`,
      {mode: 0o600},
    )
  } finally {
    await unlock()
  }
}

/** The form that `HashKnownHosts yes` asks for (OpenSSH's hostfile.c): |1|salt|HMAC-SHA1(salt, name). */
export function hashName(name: string): string {
  const salt = randomBytes(20)
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`
}

/** A file that only one process can make. */
async function lock(path: string): Promise<() => Promise<void>> {
  for (;;) {
    try {
      await (await open(path, 'wx', 0o600)).close()
      return () => rm(path, {force: true})
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const since = await stat(path).then(
      (file) => file.mtimeMs,
      () => Date.now(),
    )
    if (Date.now() - since > STALE_MS) await rm(path, {force: true})
    else await sleep(20)
  }
}
