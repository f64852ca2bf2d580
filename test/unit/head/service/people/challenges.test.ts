import {execFileSync} from 'node:child_process'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {headFingerprint, LOGIN_NAMESPACE, loginText, signWith} from '../../../../../src/lib/base/index.ts'
import {Challenges} from '../../../../../src/lib/head/service/people/challenges.ts'
import {keysOf} from '../../../../../src/lib/head/service/people/keys.ts'
import {People} from '../../../../../src/lib/head/service/people/people.ts'

let folder: string
let people: People
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-challenges-'))
  people = await People.open(folder)
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
  const keys = keysOf([await readFile(join(folder, 'key.pub'), 'utf8')])
  await people.addUser('alice', {admin: false, keys, source: 'admin'})
})
afterEach(() => rm(folder, {recursive: true, force: true}))

const sign = async (nonce: string): Promise<string> => {
  const text = loginText({user: 'alice', nonce, head: headFingerprint('ca')})
  return (await signWith(join(folder, 'key'), Buffer.from(text), LOGIN_NAMESPACE)).toString('base64')
}

test('whoever asks for thousands of challenges keeps nobody out, and one of two answers to the same one counts', async () => {
  const challenges = new Challenges()
  for (let at = 0; at < 2000; at++) challenges.issue(`user${at}`)
  const {nonce} = challenges.issue('alice')
  const proof = {nonce, signature: await sign(nonce)}
  const answers = await Promise.allSettled([1, 2].map(() => challenges.check(proof, 'ca', people)))
  expect(answers.map((one) => one.status).toSorted()).toEqual(['fulfilled', 'rejected'])
  await expect(challenges.check(proof, 'ca', people)).rejects.toMatchObject({status: 401})
})

test('a challenge of another head, or one that was changed, is none, whoever has signed it', async () => {
  const challenges = new Challenges()
  const [open = '', seal = ''] = challenges.issue('bob').nonce.split('.')
  const words = JSON.parse(Buffer.from(open, 'base64url').toString()) as [string, number, string]
  const changed = Buffer.from(JSON.stringify(['alice', ...words.slice(1)])).toString('base64url')
  for (const nonce of [new Challenges().issue('alice').nonce, `${changed}.${seal}`, `${open}.`, '', '.'])
    await expect(challenges.check({nonce, signature: await sign(nonce)}, 'ca', people), nonce).rejects.toMatchObject({
      status: 401,
    })
})
