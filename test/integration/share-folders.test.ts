import {execFile, spawn} from 'node:child_process'
import {once} from 'node:events'
import {chmod, chown, mkdir, readdir, readFile, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {promisify} from 'node:util'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import type {CliError} from '../../src/lib/base/index.ts'
import {openHost, type Host} from '../../src/lib/host/index.ts'
import {openShares, readPublicKey, type Shares} from '../../src/lib/share/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {makeKey, startSshd, type TestSshd} from '../support/sshd.ts'
import {startTwoAccounts, whyNoAccounts, type Account, type TwoAccounts} from '../support/second-user.ts'

const missing = whyNoAccounts()
if (missing !== undefined) console.error(`SKIPPED: nothing is known here about shared folders: ${missing}`)

const PATIENCE_MS = 60_000
const runFile = promisify(execFile)
const run = (program: string, words: string[], options: {cwd?: string; env?: NodeJS.ProcessEnv} = {}) =>
  runFile(program, words, {timeout: PATIENCE_MS, ...options})

async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; ;) {
    const found = await look()
    if (found) return found
    if (Date.now() > end) throw new Error(`not within ${PATIENCE_MS} ms: ${look.toString()}`)
    await pause(200)
  }
}

describe.skipIf(missing !== undefined)(
  `folders shared between accounts${missing === undefined ? '' : ` (SKIPPED: ${missing})`}`,
  () => {
    let two: TwoAccounts
    /** Lets each account in by its own authorized_keys. */
    let sshd: TestSshd
    let fleet: Fleet
    let owners: Shares
    let others: Shares
    let otherHost: Host
    let results: string
    let key: string

    const as = ({uid, gid}: Account, ...command: string[]): Promise<{stdout: string; stderr: string}> =>
      run('setpriv', [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...command], {
        cwd: '/',
        env: {PATH: '/usr/bin:/bin'},
      })
    const own = async (path: string): Promise<string> => (await chown(path, two.owner.uid, two.owner.gid), path)
    const sftp = (commands: string): Promise<{stdout: string; stderr: string}> => {
      const done = run('sftp', [
        '-q',
        '-b',
        '-',
        '-i',
        key,
        '-o',
        'IdentitiesOnly=yes',
        '-o',
        `UserKnownHostsFile=${sshd.knownHosts}`,
        '-P',
        `${sshd.port}`,
        `${two.owner.name}@127.0.0.1`,
      ])
      done.child.stdin?.end(commands)
      return done
    }
    const ssh = (command: string[]): string[] => [
      '-i',
      key,
      '-o',
      'IdentitiesOnly=yes',
      '-o',
      'BatchMode=yes',
      '-o',
      `UserKnownHostsFile=${sshd.knownHosts}`,
      '-p',
      `${sshd.port}`,
      `${two.owner.name}@127.0.0.1`,
      ...command,
    ]
    const left = async (): Promise<string[]> =>
      (await readdir(two.place)).filter((name) => name.startsWith('flexrack-shares-'))

    beforeAll(async () => {
      two = await startTwoAccounts()
      sshd = await startSshd({
        home: two.owner.home,
        config: 'AuthorizedKeysFile %h/.ssh/authorized_keys\nSubsystem sftp internal-sftp',
      })
      await chmod(two.owner.home, 0o700)
      const [node] = two.rack.nodes
      fleet = openFleet(
        [node!, {...node!, name: 'other', user: two.other.name, root: join(two.other.home, '.flexrack')}],
        two.context,
      )
      owners = openShares(fleet, node!, two.context)
      const otherNode = {...node!, name: 'other', user: two.other.name, root: join(two.other.home, '.flexrack')}
      others = openShares(fleet, otherNode, two.context)
      otherHost = await openHost(fleet, otherNode, two.context)
      results = join(two.owner.home, 'results')
      await mkdir(results)
      await own(results)
      key = await makeKey(join(two.folder, 'guest'))
    }, 300_000)
    afterAll(async () => {
      await fleet?.close()
      await sshd?.stop()
      await two?.stop()
    })

    test(
      'reading: what is there and what comes later, and nothing beside it; declined, taken back and over it is as before',
      {timeout: 300_000},
      async () => {
        await as(
          two.owner,
          'sh',
          '-c',
          `umask 077; mkdir -p ${results}/deep; echo one > ${results}/deep/one; ln -s ${two.owner.home}/secret ${results}/link; echo s > ${two.owner.home}/secret; echo open > ${two.owner.home}/open; chmod 644 ${two.owner.home}/open`,
        )
        const before = await as(
          two.owner,
          'sh',
          '-c',
          `find ${two.owner.home}/results -printf '%M %U %p %l\\n'; stat -c '%a %n' ${two.owner.home} ${two.owner.home}/*`,
        )
        const other = two.other.name
        await expect(
          owners.add(owners.planAdd({folder: results, user: two.owner.name, access: 'read'})),
        ).rejects.toMatchObject({code: 'USAGE', message: expect.stringContaining('this account itself')})
        await expect(
          owners.add(owners.planAdd({folder: two.owner.home, user: other, access: 'read'})),
        ).rejects.toMatchObject({code: 'USAGE'} satisfies Partial<CliError>)
        const {share, skipped} = await owners.add(owners.planAdd({folder: results, user: other, access: 'read'}))
        expect(share).toMatchObject({name: 'results', state: 'invited'})
        expect(skipped).toBe(0)
        await expect(owners.add(owners.planAdd({folder: results, user: other, access: 'read'}))).rejects.toMatchObject({
          code: 'CONFLICT',
        })
        expect(await others.list()).toMatchObject({
          account: other,
          received: [{owner: two.owner.name, name: 'results', state: 'invited'}],
        })
        const replied = await others.reply({owner: two.owner.name, name: 'results'}, true)
        expect(await owners.list()).toMatchObject({given: [{name: 'results', user: other, state: 'accepted'}]})

        await as(
          two.owner,
          'sh',
          '-c',
          `umask 077; echo two > ${results}/deep/two; mkdir ${results}/later; echo three > ${results}/later/three`,
        )
        expect(
          (await as(two.other, 'cat', `${replied.path}/deep/one`, `${results}/deep/two`, `${results}/later/three`))
            .stdout,
        ).toBe('one\ntwo\nthree\n')
        for (const refused of [
          ['cat', `${results}/link`],
          ['cat', `${two.owner.home}/secret`],
          ['cat', `${two.owner.home}/open`],
          ['ls', two.owner.home],
          ['touch', `${results}/mine`],
          ['rm', `${results}/deep/one`],
          ['cat', `${two.owner.home}/.flexrack/machine`],
        ]) {
          await expect(as(two.other, ...refused), refused.join(' ')).rejects.toThrow(/Permission denied/)
        }
        await as(two.owner, 'sh', '-c', `umask 022; echo later > ${two.owner.home}/afterwards`)
        await expect(as(two.other, 'cat', `${two.owner.home}/afterwards`)).rejects.toThrow(/Permission denied/)
        await as(two.owner, 'rm', `${two.owner.home}/afterwards`, `${results}/deep/two`, '-r', `${results}/later`)

        expect(await owners.remove(owners.planRemove('results', other))).toMatchObject({
          ended: [{name: 'results'}],
          left: 0,
        })
        await expect(as(two.other, 'cat', `${results}/deep/one`)).rejects.toThrow(/Permission denied/)
        expect(
          await as(
            two.owner,
            'sh',
            '-c',
            `find ${two.owner.home}/results -printf '%M %U %p %l\\n'; stat -c '%a %n' ${two.owner.home} ${two.owner.home}/*`,
          ),
        ).toEqual(before)
        expect(await others.list()).toMatchObject({received: []})
        await expect(owners.remove(owners.planRemove('results', other))).rejects.toMatchObject({code: 'NOT_FOUND'})

        for (const how of ['declined', 'over']) {
          await owners.add(
            owners.planAdd({
              folder: results,
              user: other,
              access: 'read',
              until: how === 'over' ? Date.now() / 1000 + 3 : undefined,
            }),
          )
          if (how === 'declined') await others.reply({owner: two.owner.name, name: 'results'}, false)
          await until(async () => (await owners.list()).given.length === 0) // the keeper does it, though nobody asks
          await expect(as(two.other, 'cat', `${results}/deep/one`)).rejects.toThrow(/Permission denied/)
          expect(await left()).toEqual([])
        }
        expect((await otherHost.call('share.list', null)).received).toEqual([])
      },
    )

    test(
      'writing: as the owner, in this folder alone; it ends at once when it is taken back, and nothing foreign stays',
      {timeout: 300_000},
      async () => {
        const other = two.other.name
        const keys = join(two.owner.home, '.ssh/authorized_keys')
        await mkdir(join(two.owner.home, '.ssh'), {mode: 0o700}).catch(() => {})
        await own(join(two.owner.home, '.ssh'))
        await writeFile(keys, 'ssh-ed25519 AAAA# not ours, no newline')
        await own(keys)
        await owners.add(owners.planAdd({folder: results, user: other, access: 'write', name: 'paper'}))
        await expect(others.reply({owner: two.owner.name, name: 'paper'}, true)).rejects.toMatchObject({
          code: 'USAGE',
          message: expect.stringContaining('public key'),
        })
        await others.reply({owner: two.owner.name, name: 'paper'}, true, (await readPublicKey(`${key}.pub`))?.key)
        await until(async () => (await owners.list()).given[0]?.state === 'accepted')
        expect(await readFile(keys, 'utf8')).toMatch(
          /^ssh-ed25519 AAAA# not ours, no newline\nrestrict,command="[^\n]*" ssh-ed25519 \S+ flexrack-share-[0-9a-f]{16}\n$/,
        )

        await writeFile(join(two.folder, 'brought'), 'from outside')
        const listing = await sftp(
          `put ${two.folder}/brought\nmkdir private\nchmod 700 private\nput ${two.folder}/brought private/inner\nls -1 /\nls -1 /paper\n-ls /home\n-ls ${two.owner.home}\n-get /etc/shadow\n`,
        )
        expect(listing.stdout).toContain('/paper/brought')
        expect(
          listing.stdout.split('\n').filter((line) => !line.startsWith('sftp>') && /fx[ab]\d|home|root|tmp/.test(line)),
        ).toEqual([])
        expect(await stat(join(results, 'private/inner'))).toMatchObject({uid: two.owner.uid, gid: two.owner.gid})
        await run('rsync', [
          '-a',
          '-e',
          `ssh ${ssh([]).slice(0, -1).join(' ')}`,
          `${two.folder}/brought`,
          `${two.owner.name}@127.0.0.1:again`,
        ])
        expect(await readFile(join(results, 'again'), 'utf8')).toBe('from outside')
        for (const command of [['id'], ['sh', '-c', 'cat ~/.ssh/authorized_keys'], []])
          await expect(run('ssh', ssh(command)), command.join(' ')).rejects.toMatchObject({
            code: 1,
            stderr: expect.stringContaining('for sftp, scp and rsync'),
          })
        await expect(
          run('ssh', ['-N', '-o', 'ExitOnForwardFailure=yes', '-R', '0:127.0.0.1:1', ...ssh([])]),
        ).rejects.toThrow(/forwarding failed|administratively/)

        const open = spawn('ssh', ['-s', ...ssh(['sftp'])], {stdio: ['pipe', 'pipe', 'ignore']})
        open.stdin.write(Buffer.from([0, 0, 0, 5, 1, 0, 0, 0, 3])) // SSH_FXP_INIT, version 3 (draft-ietf-secsh-filexfer-02)
        await once(open.stdout, 'data')
        const closed = once(open, 'exit')
        await owners.remove(owners.planRemove('paper', undefined))
        await closed
        expect(await readFile(keys, 'utf8')).toBe('ssh-ed25519 AAAA# not ours, no newline\n')
        await expect(sftp('ls\n')).rejects.toThrow()
        await as(two.owner, 'rm', '-r', join(results, 'private'))
        expect(await left()).toEqual([])
        expect(await two.host.call('service.list', {prefix: 'shares'})).toEqual([])
      },
    )

    test('what is no invitation is none, whoever wrote it', {timeout: 120_000}, async () => {
      const folder = join(two.place, `flexrack-shares-${two.other.uid}`)
      await as(
        two.other,
        'sh',
        '-c',
        `mkdir -m 755 ${folder}; echo '{"schema": 1, "id": "0123456789abcdef", "owner_uid": ${two.owner.uid}, "user_uid": ${two.owner.uid}}' > ${folder}/0123456789abcdef.json; mkfifo ${folder}/1123456789abcdef.json; ln -s /etc/passwd ${folder}/2123456789abcdef.json; truncate -s 2000000 ${folder}/3123456789abcdef.json`,
      )
      expect(await owners.list()).toMatchObject({given: [], received: []})
      await as(two.other, 'sh', '-c', `mkdir -m 777 ${two.place}/flexrack-shares-${two.owner.uid}`)
      const {share} = await owners.add(owners.planAdd({folder: results, user: two.other.name, access: 'read'}))
      const answer = join(two.place, `flexrack-shares-${two.owner.uid}-1`, `${share.id}.answer`)
      for (const text of [
        '[]',
        '{"answer": "accepted", "key": "ssh-ed25519 AAAA\\nssh-rsa BBBB"}',
        '{"answer": 3}',
        `{"answer": "${'x'.repeat(9000)}"}`,
      ]) {
        await as(two.other, 'sh', '-c', `printf '%s' '${text}' > ${answer}`)
        expect((await owners.list()).given[0]).toMatchObject({
          state: text.includes('accepted') ? 'accepted' : 'invited',
        })
      }
      await owners.remove(owners.planRemove('results', undefined))
    })
  },
)
