import {execFileSync} from 'node:child_process'
import {chmod, mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'
import {missing, shownIn, withOutputs} from '../support/page.ts'
import {buildProgram, shell, type Ended} from '../support/program.ts'

const root = resolve(import.meta.dirname, '../..')
const file = join(root, 'docs/first-rack.md')
/** Environments are built on three nodes, and trainings run. */
const LONG = 3_600_000
let net: TestNetRack
let folder: string

/** Three nodes without a route anywhere but to each other; the third behind a jump host. */
beforeAll(async () => {
  if (!mayMakeNetworks()) return
  buildProgram()
  execFileSync(process.execPath, [join(root, 'scripts/build-native.ts')], {stdio: ['ignore', 'ignore', 'inherit']})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-first-'))
  const cache = join(folder, 'uv-cache') // nodes of one machine need not download all of it three times
  await mkdir(cache, {mode: 0o700})
  net = await startNetRack(4, undefined, () => ({UV_CACHE_DIR: cache}))
  const names: Record<string, string> = {'node-1': 'gpu-1', 'node-2': 'gpu-2', 'node-3': 'gpu-3', 'node-4': 'gate'}
  const hosts = Object.entries(net.servers).map(
    ([node, {port, clientKey}]) =>
      `Host ${names[node]}\n  HostName ${net.addresses[node]}\n  Port ${port}\n  User root\n  IdentityFile ${clientKey}\n${node === 'node-3' ? '  ProxyJump gate\n' : ''}`,
  )
  await mkdir(join(folder, 'home/.ssh'), {recursive: true, mode: 0o700})
  await writeFile(join(folder, 'home/.ssh/config'), hosts.join('\n'), {mode: 0o600})
  await mkdir(join(folder, 'bin'))
  await writeFile(
    join(folder, 'bin/flexrack'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/run.js')}' "$@"\n`,
  )
  await chmod(join(folder, 'bin/flexrack'), 0o755)
}, LONG)
afterAll(async () => {
  await net?.stop()
  if (folder) await rm(folder, {recursive: true, force: true})
}, LONG)

// FLEXRACK_WRITE=1 writes what the commands print into the page.
it('docs/first-rack.md is what happens, command by command', {timeout: LONG}, async (context) => {
  if (!mayMakeNetworks()) {
    console.warn('docs/first-rack.md is NOT played: making network namespaces takes root')
    return context.skip()
  }
  const page = await readFile(file, 'utf8')
  const outputs: string[][] = []
  let place = join(folder, 'home')
  for (const {command, output} of shownIn(page)) {
    const ended: Ended = await shell(`cd '${place}' && ${command} && pwd > '${folder}/pwd'`, {
      env: {
        PATH: `${folder}/bin:${process.env.PATH}`,
        HOME: join(folder, 'home'),
        LANG: 'C.UTF-8',
        PIP_CONFIG_FILE: process.env.PIP_CONFIG_FILE,
        FLEXRACK_REBOOT: 'stay',
      },
    })
    expect(ended.status, `${command}\n${ended.stderr}`).toBe(0)
    place = (await readFile(join(folder, 'pwd'), 'utf8')).trim()
    const lines = plain(ended.stdout)
    outputs.push(lines)
    if (!process.env.FLEXRACK_WRITE) expect(missing(output, lines), `${command}\n${lines.join('\n')}`).toBeUndefined()
  }
  if (process.env.FLEXRACK_WRITE) await writeFile(file, withOutputs(page, outputs))
})

/** As on a rack whose nodes are 10.0.0.1 and so on, without what only a busy machine shows. */
function plain(text: string): string[] {
  const known = text
    .replaceAll(/198\.18\.\d+\./g, '10.0.0.')
    .replaceAll(/\/tmp\/flexrack-sshd-\w+\/home/g, '~')
    .replaceAll(join(folder, 'home'), '~')
  return known.trim() === ''
    ? []
    : known
        .trimEnd()
        .split('\n')
        .filter((line) => !/^pace:|\[W\d|^\s*rank \d+ on|^data wait/.test(line))
        .map((line) => line.trimEnd())
}
