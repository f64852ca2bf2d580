import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {remotesOf} from '../../../src/lib/bucket/index.ts'

let home: string
let env: NodeJS.ProcessEnv
const write = (text: string): void => writeFileSync(join(home, 'rclone.conf'), text)

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'flexrack-remotes-'))
  env = {RCLONE_CONFIG: join(home, 'rclone.conf'), HOME: home}
})
afterEach(() => rmSync(home, {recursive: true}))

test('only the sections that are needed travel, with those that they refer to', async () => {
  write(
    '# mine\n[store]\ntype = s3\nsecret_access_key = a=b\n\n[crypted]\ntype=crypt\nremote = store:bucket\npassword = x\n[all]\ntype = combine\nupstreams = a=store:a b=crypted:\n[other]\ntype = ftp\npass = nobodys\n',
  )
  expect(await remotesOf(['store', 'store'], env)).toBe('[store]\ntype = s3\nsecret_access_key = a=b\n')
  expect(await remotesOf(['crypted'], env)).toBe(
    '[crypted]\ntype = crypt\nremote = store:bucket\npassword = x\n\n[store]\ntype = s3\nsecret_access_key = a=b\n',
  )
  const all = await remotesOf(['all'], env)
  expect([all.match(/^\[.*\]$/gm), all.includes('nobodys')]).toEqual([['[all]', '[store]', '[crypted]'], false])
  expect(await remotesOf([], env)).toBe('')
})

test('variables of rclone make a remote, and come before the file; those of Amazon go along where the remote asks for them', async () => {
  Object.assign(env, {
    RCLONE_CONFIG_MY_STORE_TYPE: 's3',
    RCLONE_CONFIG_MY_STORE_ENV_AUTH: 'true',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'key',
  })
  expect(await remotesOf(['my-store'], env)).toBe(
    '[my-store]\ntype = s3\nenv_auth = false\naccess_key_id = id\nsecret_access_key = key\n',
  )
  delete env.AWS_SECRET_ACCESS_KEY
  expect(await remotesOf(['my-store'], env)).toBe('[my-store]\ntype = s3\nenv_auth = true\n')
})

test.each([
  ['[x]\ntype = local\n', 'CHECK_FAILED', 'volumes'],
  ['[x]\ntype = alias\nremote = /etc\n', 'CHECK_FAILED', 'volumes'],
  ['[x]\ntype = alias\nremote = :local:/etc\n', 'CHECK_FAILED', 'volumes'],
  ['[x]\ntype = alias\nremote = y:\n[y]\ntype = local\n', 'CHECK_FAILED', 'volumes'],
  ['[x]\ntype = sftp\nkey_file = /home/me/.ssh/id\n', 'CHECK_FAILED', 'key_pem'],
  ['[x]\ntype = webdav\nbearer_token_command = get-token\n', 'CHECK_FAILED', 'keys of its own'],
  ['[x]\ntype = crypt\nremote = gone:\n', 'NOT_FOUND', 'rclone config create gone'],
  ['[y]\ntype = s3\n', 'NOT_FOUND', 'rclone config create x'],
  ['# Encrypted rclone configuration File\n\nRCLONE_ENCRYPT_V0:\nabc', 'CHECK_FAILED', 'RCLONE_CONFIG_X_TYPE'],
])('%j is refused: %s', async (text, code, hint) => {
  write(text)
  await expect(remotesOf(['x'], env)).rejects.toMatchObject({code, hint: expect.stringContaining(hint)})
})
