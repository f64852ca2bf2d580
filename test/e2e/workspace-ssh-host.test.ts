import {execFile, spawn, type ChildProcess} from 'node:child_process'
import {createHash, randomBytes} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {chmod, lstat, mkdir, mkdtemp, readFile, readdir, realpath, rm, stat, symlink, writeFile} from 'node:fs/promises'
import {connect, createServer} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {sharedEnvironments} from '../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {buildProgram, flexrack as program, type Ended} from '../support/program.ts'
import {freePort, startSshd, type TestSshd} from '../support/sshd.ts'

let rack: TestLocalRack
let sshd: TestSshd
let folder: string
let project: string
let home: string
let config: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  buildProgram()
  const environments = await sharedEnvironments()
  ;[rack, sshd] = await Promise.all([startLocalRack({nodes: 2, environments}), startSshd()])
  folder = await realpath(await mkdtemp(join(tmpdir(), 'flexrack-ssh-host-')))
  project = join(folder, 'digits')
  home = join(folder, 'home')
  config = join(home, '.ssh/config')
  for (const one of [project, home, join(folder, 'bin')]) await mkdir(one)
  env = {FLEXRACK_HOME: rack.home, HOME: home, PATH: `${join(folder, 'bin')}:${process.env.PATH}`}
  await writeFile(join(project, 'flexrack.yaml'), 'name: digits\nworkspace:\n  env: {GREETING: "hello  there"}\n')
  await writeFile(
    join(folder, 'real.yaml'),
    `nodes:\n  - {name: real, host: 127.0.0.1, port: ${sshd.port}, user: ${sshd.user}, identity_file: ${sshd.clientKey}, known_hosts: ${sshd.knownHosts}, environments: ${environments}}\n`,
  )
  await flexrack('workspace', 'up', '--on', 'all')
  await flexrack('workspace', 'up', '--rack', join(folder, 'real.yaml'))
  for (const editor of ['code', 'cursor', 'zed'])
    await writeFile(join(folder, 'bin', editor), `#!/bin/sh\nprintf '%s\\n' "$@" >"${folder}/${editor}.said"\n`, {
      mode: 0o755,
    })
})

afterAll(async () => {
  await rack?.stop()
  await sshd?.stop()
  await rm(folder, {recursive: true, force: true})
})

const flexrack = (...args: string[]): Promise<Ended> => program(args, {cwd: project, env})
const run = promisify(execFile)
/** OpenSSH looks for its configuration where the password file says, not in HOME. */
const ssh = (
  words: string[],
  options: {input?: string} = {},
): Promise<{status: number; stdout: string; stderr: string}> =>
  new Promise((resolve) => {
    const child = execFile('ssh', ['-F', config, ...words], {env: {...process.env, ...env}}, (error, stdout, stderr) =>
      resolve({status: error ? Number(error.code) : 0, stdout, stderr}),
    )
    child.stdin?.end(options.input ?? '')
  })
const codeOf = async (node: string): Promise<string> =>
  JSON.parse((await flexrack('workspace', 'show', '--on', node, '--json')).stdout)[0].code

test('ssh-config: a plan first, one line at the top of whatever ~/.ssh/config is, nothing the second time, and all of it away byte by byte', async () => {
  const planned = JSON.parse((await flexrack('workspace', 'ssh-config', '--dry-run', '--json')).stdout)
  expect(planned.steps.map((step: {id: string}) => step.id)).toEqual(['key:node-1', 'key:node-2', 'write', 'include'])
  const text = 'Match host other\r\n  User nobody\r\nHost last\r\n  Port 1'
  await mkdir(join(home, '.ssh'), {mode: 0o700})
  await writeFile(join(folder, 'dotfiles-config'), text, {mode: 0o640})
  await symlink(join(folder, 'dotfiles-config'), config)
  expect(await flexrack('workspace', 'ssh-config')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('ws-digits-node-2'),
  })
  const once = await readFile(config, 'utf8')
  expect(once.endsWith(text)).toBe(true)
  expect((await lstat(config)).isSymbolicLink()).toBe(true)
  expect((await stat(config)).mode & 0o777).toBe(0o640)
  expect((await flexrack('workspace', 'ssh-config', '--dry-run')).stdout).toBe(
    'Nothing to do for workspace ssh-config.\n',
  )
  for (const name of ['hosts.conf', 'known_hosts', 'id_ed25519'])
    expect((await stat(join(rack.home, 'config/ssh', name))).mode & 0o777).toBe(0o600)
  const told = (await ssh(['-G', 'ws-digits'])).stdout
  expect(told).toContain(`userknownhostsfile ${rack.home}/config/ssh/known_hosts\n`)
  expect(told).toContain('hostkeyalias flexrack-ws-digits\n')
  expect(told).toMatch(/^stricthostkeychecking (yes|true)$/m)

  expect((await flexrack('workspace', 'ssh-config', '--remove', '--dry-run', '--json')).stdout).toContain('"exclude"')
  expect(await flexrack('workspace', 'ssh-config', '--remove')).toMatchObject({status: 0})
  expect(await readFile(config, 'utf8')).toBe(text)
  expect(await readdir(join(rack.home, 'config'))).not.toContain('ssh')

  await chmod(config, 0o440)
  expect(await flexrack('workspace', 'ssh-config')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(`Include "${rack.home}/config/ssh/hosts.conf"`),
  })
  expect(await readFile(config, 'utf8')).toBe(text)
  await flexrack('workspace', 'ssh-config', '--remove')
  await rm(config)
  await flexrack('workspace', 'ssh-config')
  await flexrack('workspace', 'ssh-config', '--remove')
  expect(await readdir(join(home, '.ssh'))).toEqual([])

  await mkdir(join(rack.home, 'config/ssh'))
  await writeFile(join(rack.home, 'config/ssh/hosts.conf'), 'Host mine\n')
  expect(await flexrack('workspace', 'ssh-config')).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('is not a file of flexrack'),
  })
  await rm(join(rack.home, 'config/ssh'), {recursive: true})
})

test('ssh runs commands in the environment of the workspace: exit status, streams, arguments, another node', async () => {
  await flexrack('workspace', 'ssh-config')
  expect((await ssh(['ws-digits', 'exit 7'])).status).toBe(7)
  const [code, there] = [await codeOf('node-1'), await codeOf('node-2')]
  const said = await ssh(
    ['ws-digits', 'pwd; echo "$GREETING"; cat; command -v python; echo problem >&2; ls -d "$HOME"'],
    {input: 'from here\n'},
  )
  const [pwd, greeting, input, python, nodeHome] = said.stdout.split('\n')
  expect([pwd, greeting, input]).toEqual([code, 'hello  there', 'from here'])
  expect(python).toMatch(/\/[0-9a-f]{16}\/bin\/python$/)
  expect(code.startsWith(nodeHome!)).toBe(true)
  expect(said.stderr).toBe('problem\n')
  expect((await ssh(['ws-digits-node-2', 'pwd'])).stdout).toBe(`${there}\n`)
  expect((await ssh(['-tt', 'ws-digits', 'tty; echo $TERM'])).stdout).toMatch(/^\/dev\/pts\/\d+\r\n/)
})

test('scp, sftp and rsync carry a file there and back', async () => {
  const bytes = randomBytes(1_500_000)
  const digest = createHash('sha256').update(bytes).digest('hex')
  await writeFile(join(folder, 'big.bin'), bytes)
  const options = ['-F', config]
  await run('scp', [...options, '-q', join(folder, 'big.bin'), 'ws-digits:scp.bin'], {env: {...process.env, ...env}})
  await writeFile(
    join(folder, 'batch'),
    `put ${join(folder, 'big.bin')} sftp.bin\nget scp.bin ${join(folder, 'back.bin')}\n`,
  )
  await run('sftp', [...options, '-q', '-b', join(folder, 'batch'), 'ws-digits'], {env: {...process.env, ...env}})
  await run('rsync', ['-a', '-e', `ssh -F ${config}`, join(folder, 'big.bin'), 'ws-digits:rsync.bin'], {
    env: {...process.env, ...env},
  })
  expect((await ssh(['ws-digits', 'sha256sum scp.bin sftp.bin rsync.bin'])).stdout).toBe(
    ['scp', 'sftp', 'rsync'].map((name) => `${digest}  ${name}.bin\n`).join(''),
  )
  expect(
    createHash('sha256')
      .update(await readFile(join(folder, 'back.bin')))
      .digest('hex'),
  ).toBe(digest)
})

test('ports and sockets of the node are reached here; a killed client leaves nothing, and what was started to stay does', async () => {
  await flexrack('workspace', 'ssh-config')
  const code = await codeOf('node-1')
  const [socket, portFile] = [join(folder, 's'), join(code, 'port')]
  const server = createServer((one) => one.end('from the socket')).listen(socket)
  const [forPort, forSocket, remote] = [
    await freePort(),
    await freePort(),
    createServer((one) => one.end('from the port')).listen(0, '127.0.0.1'),
  ]
  await vi.waitFor(() => expect(remote.listening && server.listening).toBe(true))
  const {port} = remote.address() as {port: number}
  const script = `nohup sleep 98765 >/dev/null 2>&1 </dev/null & echo $! >stay; echo $$ >${portFile}; sleep 98764 & wait`
  const client = spawn(
    'ssh',
    ['-F', config, '-L', `${forPort}:127.0.0.1:${port}`, '-L', `${forSocket}:${socket}`, 'ws-digits', script],
    {env: {...process.env, ...env}, stdio: ['pipe', 'pipe', 'pipe']},
  )
  await vi.waitFor(async () => expect((await readFile(portFile, 'utf8')).trim()).toMatch(/^\d+$/), {
    timeout: 60_000,
    interval: 200,
  })
  expect(await answerOf(forPort)).toBe('from the port')
  expect(await answerOf(forSocket)).toBe('from the socket')
  const before = await connectionProcesses(code)
  // Our own process on the node, sshd, the shell that sshd starts, the sleep of the command.
  expect(before.length).toBeGreaterThanOrEqual(4)
  await killed(client)
  const stay = Number(await readFile(join(code, 'stay'), 'utf8'))
  await vi.waitFor(() => expect(before.filter(isAlive)).toEqual([stay]), {timeout: 60_000, interval: 200})
  process.kill(stay)
  await vi.waitFor(async () => expect(await readdir(join(code, '../ssh'))).toEqual(['host_key', 'host_key.pub']), {
    timeout: 30_000,
    interval: 200,
  })
  await Promise.all([server, remote].map((one) => new Promise((resolve) => one.close(resolve))))
})

test('another host key inside is refused, and told of when it is made known anew', async () => {
  const code = await codeOf('node-2')
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', join(folder, 'other_key')])
  for (const name of ['', '.pub'])
    await writeFile(join(code, `../ssh/host_key${name}`), await readFile(join(folder, `other_key${name}`)))
  const refused = await ssh(['ws-digits-node-2', 'echo reached'])
  expect(refused).toMatchObject({status: 255, stdout: ''})
  expect(refused.stderr).toContain('Host key verification failed')
  expect(await flexrack('workspace', 'ssh-config')).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('the host key is another one than before'),
  })
  expect((await ssh(['ws-digits-node-2', 'echo reached'])).stdout).toBe('reached\n')
})

test('open starts the editor with exactly the folder of the host, or prints its address', async () => {
  const code = await codeOf('node-1')
  expect(await flexrack('workspace', 'open', 'code')).toMatchObject({status: 0})
  expect(await readFile(join(folder, 'code.said'), 'utf8')).toBe(
    `--folder-uri\nvscode-remote://ssh-remote+ws-digits${code}\n`,
  )
  await flexrack('workspace', 'open', 'zed', '--on', 'node-2')
  expect(await readFile(join(folder, 'zed.said'), 'utf8')).toBe(`zed://ssh/ws-digits-node-2${await codeOf('node-2')}\n`)
  expect((await flexrack('workspace', 'open', 'cursor', '--print')).stdout).toBe(
    `cursor://vscode-remote/ssh-remote+ws-digits${code}\n`,
  )
  await rm(join(folder, 'bin/cursor'))
  expect(await flexrack('workspace', 'open', 'cursor')).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('cursor://vscode-remote/ssh-remote+ws-digits/'),
  })
  expect(await flexrack('workspace', 'open', 'ssh')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('no terminal'),
  })
})

test('a node with OpenSSH is a host as well, and a second rack with the same project has names of its own', async () => {
  const made = JSON.parse(
    (await flexrack('workspace', 'ssh-config', '--rack', join(folder, 'real.yaml'), '--json')).stdout,
  )
  expect(made.hosts).toMatchObject([{host: expect.stringMatching(/^ws-digits-[0-9a-f]{6}$/), node: 'real'}])
  const {host, folder: code} = made.hosts[0]
  const said = await ssh([host, 'pwd; echo "$GREETING"; exit 3'])
  expect(said).toMatchObject({status: 3, stdout: `${code}\nhello  there\n`})
  expect((await ssh(['ws-digits', 'pwd'])).stdout).toBe(`${await codeOf('node-1')}\n`)
  expect((await ssh(['-tt', host, 'tty'])).stdout).toMatch(/^\/dev\/pts\/\d+\r\n/)
  await chmod(config, 0o600)
  // The rack that is not there any more is said by the command that ssh runs.
  await rm(join(folder, 'real.yaml'))
  expect(await ssh([host, 'true'])).toMatchObject({status: 255, stderr: expect.stringContaining('real.yaml')})
})

async function answerOf(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    connect(port, '127.0.0.1')
      .on('data', (data) => (text += String(data)))
      .on('end', () => resolve(text))
      .on('error', reject)
  })
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

/** What connections into a workspace have started on its node, our own process first. */
async function connectionProcesses(code: string): Promise<number[]> {
  const root = join(code, '../../..')
  const all = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        const [command, line] = await Promise.all(
          ['cmdline', 'stat'].map((file) => readFile(`/proc/${name}/${file}`, 'latin1').catch(() => '')),
        )
        return {
          pid: Number(name),
          parent: Number(line!.slice(line!.lastIndexOf(')') + 2).split(' ')[1]),
          isOurs: command!.includes('ssh_session.py') && command!.includes(root),
        }
      }),
  )
  const found = all.filter((one) => one.isOurs)
  for (const one of found) found.push(...all.filter((other) => other.parent === one.pid && !found.includes(other)))
  return found.map((one) => one.pid)
}

function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
