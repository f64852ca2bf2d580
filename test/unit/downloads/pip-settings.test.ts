import {chmod, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import {openDownloads} from '../../../src/lib/downloads/open.ts'
import {readIndexSettings} from '../../../src/lib/downloads/pip-settings.ts'
import type {NodeShell} from '../../../src/lib/ssh/index.ts'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'flexrack-settings-'))))
afterAll(() => rm(folder, {recursive: true, force: true}))

/** A machine whose python3 does this. */
async function machine(script: string, env: Record<string, string> = {}): Promise<NodeJS.ProcessEnv> {
  await writeFile(join(folder, 'python3'), `#!/bin/sh\n${script}\n`)
  await chmod(join(folder, 'python3'), 0o700)
  return {PATH: folder, FLEXRACK_HOME: folder, ...env}
}

test('a python3 that gives no answer is an error with what it says; without one the variables count', async () => {
  await expect(readIndexSettings('x.py', await machine('echo "no module named encodings" >&2'))).rejects.toMatchObject({
    code: 'LOCAL_FAILED',
    message: 'what pip is told on this machine cannot be read: no module named encodings',
  })
  await expect(readIndexSettings('x.py', await machine('exit 3'))).rejects.toMatchObject({code: 'LOCAL_FAILED'})
  expect(
    await readIndexSettings('x.py', {PATH: join(folder, 'nothing'), PIP_INDEX_URL: 'https://own.example/simple'}),
  ).toEqual({'index-url': 'https://own.example/simple'})
})

test('a file of certificates that is not there, or has none, is named, and nothing is opened', async () => {
  const shell = {forwardRemote: () => expect.unreachable()} as unknown as NodeShell
  const open = async (cert: string): Promise<unknown> =>
    openDownloads(
      shell,
      {texts: [], pythons: false, more: [], bundled: false, reader: 'x.py'},
      makeContext({env: await machine('echo {}', {SSL_CERT_FILE: cert})}),
    )
  await expect(open(join(folder, 'gone.pem'))).rejects.toMatchObject({
    code: 'LOCAL_FAILED',
    message: `the file of certificates ${join(folder, 'gone.pem')} cannot be read: there is none`,
    hint: expect.stringContaining('SSL_CERT_FILE'),
  })
  await writeFile(join(folder, 'key.pem'), '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n')
  await expect(open(join(folder, 'key.pem'))).rejects.toMatchObject({
    code: 'LOCAL_FAILED',
    message: `${join(folder, 'key.pem')} has no certificate in it`,
  })
})
