import {execFile, spawn} from 'node:child_process'
import {once} from 'node:events'
import {chmod, chown, mkdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {promisify} from 'node:util'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {openShares, readPublicKey, type Shares} from '../../src/lib/share/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {startTwoAccounts, whyNoAccounts, type Account, type TwoAccounts} from '../support/second-user.ts'
import {makeKey, startSshd, type TestSshd} from '../support/sshd.ts'

const missing = whyNoAccounts()
const PATIENCE_MS = 120_000
const run = promisify(execFile)

describe.skipIf(missing !== undefined)('a folder of one account, read by a second one and written by a third', () => {
  let three: TwoAccounts
  let third: Account
  let sshd: TestSshd
  let fleet: Fleet
  let owners: Shares
  let readers: Shares
  let writers: Shares
  let results: string
  let key: string
  const as = async ({uid, gid, home}: Account, script: string): Promise<string> =>
    (
      await run('setpriv', [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', 'sh', '-ec', script], {
        cwd: '/',
        env: {PATH: '/usr/bin:/bin', HOME: home},
        timeout: PATIENCE_MS,
      })
    ).stdout

  beforeAll(async () => {
    three = await startTwoAccounts({third: true})
    third = three.third as Account
    const {owner} = three
    sshd = await startSshd({
      home: owner.home,
      config: 'AuthorizedKeysFile %h/.ssh/authorized_keys\nSubsystem sftp internal-sftp',
    })
    await chmod(sshd.folder, 0o711)
    await chmod(sshd.knownHosts, 0o644)
    await chmod(owner.home, 0o700)
    const node = three.rack.nodes[0]!
    const nodeOf = (account: Account, name: string): typeof node => ({
      ...node,
      name,
      user: account.name,
      root: join(account.home, '.flexrack'),
    })
    const nodes = [node, nodeOf(three.other, 'reader'), nodeOf(third, 'writer')]
    fleet = openFleet(nodes, three.context)
    ;[owners, readers, writers] = nodes.map((one) => openShares(fleet, one, three.context)) as [Shares, Shares, Shares]
    results = join(owner.home, 'results')
    key = await makeKey(join(three.folder, 'guest'))
    await chown(key, third.uid, third.gid)
    await as(owner, `umask 077; mkdir -p ${results}/deep ${owner.home}/.ssh; echo one > ${results}/deep/one`)
    await mkdir(join(third.home, 'seen'))
    await chown(join(third.home, 'seen'), third.uid, third.gid)
  }, 300_000)
  afterAll(async () => {
    await fleet?.close()
    await sshd?.stop()
    await three?.stop()
  })

  const options = (): string =>
    `-o IdentityFile=${key} -o IdentitiesOnly=yes -o BatchMode=yes -o UserKnownHostsFile=${sshd.knownHosts} -o Port=${sshd.port}`

  test(
    'one reads and may not write, one writes as the owner; what is taken back from one stays with the other, and open sessions end',
    {timeout: 600_000},
    async () => {
      const {owner, other} = three
      await owners.add(owners.planAdd({folder: results, user: other.name, access: 'read', name: 'paper'}))
      await owners.add(owners.planAdd({folder: results, user: third.name, access: 'write', name: 'paper'}))
      await readers.reply({owner: owner.name, name: 'paper'}, true)
      await writers.reply({owner: owner.name, name: 'paper'}, true, (await readPublicKey(`${key}.pub`))?.key)
      await until(async () => (await owners.list()).given.every(({state}) => state === 'accepted'))
      expect((await owners.list()).given.map(({user, access, state}) => [user, access, state]).toSorted()).toEqual(
        [
          [other.name, 'read', 'accepted'],
          [third.name, 'write', 'accepted'],
        ].toSorted(),
      )
      // A real file system over the door: what programs do to files there, with all the rights that they set.
      const seen = join(third.home, 'seen')
      const inside = `umask 077
        sshfs -o idmap=user ${options()} ${owner.name}@127.0.0.1: ${seen}
        trap 'fusermount -u ${seen}' EXIT
        mkdir -m 700 ${seen}/private
        echo mine > ${third.home}/mine; chmod 600 ${third.home}/mine; echo other > ${third.home}/other; chmod 400 ${third.home}/other
        cp -p ${third.home}/mine ${seen}/private/copied
        mv ${third.home}/other ${seen}/moved
        ln -s /etc/shadow ${seen}/link`
      // Whoever may open /dev/fuse: on some machines root alone. Whose the files are is the door's doing.
      await run('sh', ['-ec', inside], {timeout: PATIENCE_MS})
      const listed = await as(owner, `find ${results} -mindepth 1 -printf '%P %u\\n'`)
      expect(listed.trim().split('\n').toSorted()).toEqual(
        ['deep', 'deep/one', 'link', 'moved', 'private', 'private/copied'].map((name) => `${name} ${owner.name}`),
      )
      expect(await as(owner, `stat -c %a ${results}/moved ${results}/private ${results}/private/copied`)).toBe(
        '400\n700\n600\n',
      )
      expect(await as(other, `cat ${results}/deep/one`)).toBe('one\n')
      for (const refused of [
        `touch ${results}/x`,
        `rm ${results}/deep/one`,
        `cat ${results}/private/copied`,
        `cat ${key}`,
      ])
        await expect(as(other, refused), refused).rejects.toThrow(/Permission denied/)
      await expect(
        as(third, `cat ${results}/deep/one`),
        'the one who writes comes in by the door alone',
      ).rejects.toThrow(/Permission denied/)

      // Taken back while a session transfers nothing and one is in the middle of a file.
      const idle = spawn('ssh', [...options().split(' '), `${owner.name}@127.0.0.1`, '-s', 'sftp'], {
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      idle.stdin.write(Buffer.from([0, 0, 0, 5, 1, 0, 0, 0, 3])) // SSH_FXP_INIT, version 3
      await once(idle.stdout, 'data')
      await writeFile(join(three.folder, 'large'), Buffer.alloc(64 << 20))
      const busy = spawn(
        'rsync',
        ['-a', '--bwlimit=1m', '-e', `ssh ${options()}`, join(three.folder, 'large'), `${owner.name}@127.0.0.1:large`],
        {stdio: 'ignore'},
      )
      await until(async () => /large/.test(await as(owner, `ls -A ${results}`)))
      const ends = [idle, busy].map(async (one) => (await once(one, 'exit'), performance.now()))
      const begun = performance.now()
      await owners.remove(owners.planRemove('paper', third.name))
      const removed = performance.now()
      const took = (await Promise.all(ends)).map((end) => Math.round(end - removed))
      console.log(`taken back in ${Math.round(removed - begun)} ms; sessions ended ${took.join(' and ')} ms after that`)
      expect(await as(other, `cat ${results}/deep/one`)).toBe('one\n')
      await expect(as(third, `sftp -q -b /dev/null ${options()} ${owner.name}@127.0.0.1`)).rejects.toThrow()
      expect(await readFile(join(owner.home, '.ssh/authorized_keys'), 'utf8').catch(() => '')).toBe('')

      await owners.remove(owners.planRemove('paper', other.name))
      await expect(as(other, `cat ${results}/deep/one`)).rejects.toThrow(/Permission denied/)
      await as(owner, `rm -r ${results}; mkdir ${results}`)
      expect(await three.host.call('service.list', {prefix: 'shares'})).toEqual([])
    },
  )

  test('one key opens all that its account has accepted, and no more', {timeout: 300_000}, async () => {
    const {owner} = three
    const publicKey = (await readPublicKey(`${key}.pub`))?.key
    const names = ['one', 'two', 'three']
    for (const name of names) {
      await as(owner, `mkdir ${owner.home}/${name}; echo ${name} > ${owner.home}/${name}/file`)
      await owners.add(owners.planAdd({folder: join(owner.home, name), user: third.name, access: 'write', name}))
      if (name !== 'three') await writers.reply({owner: owner.name, name}, true, publicKey)
    }
    const keys = join(owner.home, '.ssh/authorized_keys')
    await until(async () => (await readFile(keys, 'utf8')).split('flexrack-share-').length === 3)
    const sftp = async (...commands: string[]): Promise<string> => {
      const sent = spawn('sftp', ['-q', '-b', '-', ...options().split(' '), `${owner.name}@127.0.0.1`])
      let text = ''
      for (const stream of [sent.stdout, sent.stderr]) stream.on('data', (data) => (text += String(data)))
      sent.stdin.end(commands.map((command) => `${command}\n`).join(''))
      await once(sent, 'close')
      return text
    }
    const all = await sftp('ls -1 /one /two', 'ls -1 .', '-ls /three', 'rm /two/file')
    expect(all).toContain('/one/file')
    expect(all).toMatch(/"\/three" not found/)
    expect(await as(owner, `ls ${owner.home}/two`)).toBe('')
    await owners.remove(owners.planRemove('one', undefined))
    expect(await sftp('-ls /one/file', 'ls -1 /two')).toMatch(/"\/one\/file" not found/)
    for (const name of ['two', 'three']) await owners.remove(owners.planRemove(name, undefined))
  })

  test(
    'an invitation to a folder that was renamed or replaced since opens nothing else',
    {timeout: 300_000},
    async () => {
      const {owner, other} = three
      await as(owner, `mkdir ${owner.home}/first; echo first > ${owner.home}/first/file`)
      for (const access of ['read', 'write'] as const) {
        const account = access === 'read' ? other : third
        const folder = join(owner.home, 'first')
        await owners.add(owners.planAdd({folder, user: account.name, access, name: 'moving'}))
        await as(owner, `mv ${folder} ${owner.home}/second; ln -s ${owner.home} ${folder}`)
        const answer = access === 'read' ? readers : writers
        await answer.reply({owner: owner.name, name: 'moving'}, true, (await readPublicKey(`${key}.pub`))?.key)
        await until(async () => (await owners.list()).given[0]?.state === 'accepted')
        if (access === 'write')
          await until(async () =>
            (await readFile(join(owner.home, '.ssh/authorized_keys'), 'utf8')).includes('flexrack-share-'),
          )
        if (access === 'read') {
          await expect(as(account, `cat ${folder}/.flexrack/machine`)).rejects.toThrow(/Permission denied/)
          await expect(as(account, `ls ${folder}/`)).rejects.toThrow(/Permission denied/)
        } else {
          const sent = spawn('sftp', ['-q', '-b', '-', ...options().split(' '), `${owner.name}@127.0.0.1`])
          let text = ''
          for (const stream of [sent.stdout, sent.stderr]) stream.on('data', (data) => (text += String(data)))
          sent.stdin.end('ls -la\n')
          await once(sent, 'close')
          expect(text).toMatch(/not shared any more|Connection closed/)
          expect(text).not.toContain('.flexrack')
        }
        await owners.remove(owners.planRemove('moving', account.name))
        await as(owner, `rm ${folder}; mv ${owner.home}/second ${folder}`)
        await expect(as(account, `cat ${folder}/file`)).rejects.toThrow(/Permission denied/)
      }
    },
  )
})

async function until(look: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !(await look()); await pause(100))
    if (Date.now() > end) throw new Error(`not within ${PATIENCE_MS} ms: ${look.toString()}`)
}
