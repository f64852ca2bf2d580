import {execFileSync, spawn} from 'node:child_process'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {buildProgram, flexrack, shell, type Ended} from '../support/program.ts'

const root = resolve(import.meta.dirname, '../..')
let folder: string

beforeAll(async () => {
  buildProgram()
  folder = await mkdtemp(join(tmpdir(), 'flexrack-own-node-'))
})
afterAll(() => rm(folder, {recursive: true, force: true}))

/** becomeNode of bin/own-node.js in a process of its own, running `source`. */
async function become(source: string, onReady?: (pid: number) => void): Promise<Ended> {
  const file = join(folder, 'child.mjs')
  await writeFile(file, source)
  const parent = `import {becomeNode} from '${join(root, 'bin/own-node.js')}'; becomeNode(process.execPath, ['${file}', 'a b'])`
  const child = spawn(process.execPath, ['--input-type=module', '-e', parent], {stdio: ['ignore', 'pipe', 'pipe']})
  const output = {stdout: '', stderr: ''}
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString()
    if (output.stdout === 'ready\n' && child.pid !== undefined) onReady?.(child.pid)
  })
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
  return new Promise((done) => child.on('close', (status, signal) => done({status, signal, ...output})))
}

describe("the checkout's own Node", () => {
  it('gets the arguments, and its exit status is the answer', async () => {
    expect(await become('console.log(process.argv[2]); process.exitCode = 7')).toMatchObject({
      status: 7,
      stdout: 'a b\n',
    })
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'gets a %s that was sent to its parent only, and the parent waits for it',
    async (signal) => {
      const source = `setInterval(() => {}, 1000); process.on('${signal}', () => { console.log('cleaned up'); process.exit(5) }); console.log('ready')`
      expect(await become(source, (pid) => process.kill(pid, signal))).toMatchObject({
        status: 5,
        stdout: 'ready\ncleaned up\n',
      })
    },
  )

  it('that is ended by a signal gives the status a shell would give', async () => {
    const source = "setInterval(() => {}, 1000); console.log('ready')"
    expect(await become(source, (pid) => process.kill(pid, 'SIGTERM'))).toMatchObject({status: 143})
  })
})

/** Every Node of this machine that is too old for us. */
const old = ['/usr/bin/node', '/usr/local/bin/node'].filter((file) => {
  try {
    const [major = 0, minor = 0] = execFileSync(file, ['-p', 'process.versions.node'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .split('.')
      .map(Number)
    return major < 22 || (major === 22 && minor < 22)
  } catch {
    return false
  }
})

describe.skipIf(old.length === 0)('an old Node', () => {
  it("runs bin/run.js in the checkout's own", async () => {
    const {stdout, status, stderr} = await flexrack(['--version'], {node: old[0] ?? ''})
    expect({status, stderr}).toEqual({status: 0, stderr: ''})
    expect(stdout).toContain(`node-${process.version}`)
  })

  it('says what is needed where there is no other', async () => {
    const ended = await shell(
      `mkdir -p '${folder}/bin' && cp '${root}'/bin/*.js '${folder}/bin' && echo '{"type": "module"}' > '${folder}/package.json' && mkdir -p '${folder}/dist/cli' && touch '${folder}/dist/cli/main.js' && '${old[0]}' '${folder}/bin/run.js' --version`,
    )
    expect(ended).toMatchObject({status: 1, stdout: ''})
    expect(ended.stderr).toMatch(
      /^flexrack needs Node\.js 22\.22 or newer; this is v\d+\.\d+\.\d+\. Install a newer Node, or run npm install in the checkout\.\n$/,
    )
  })
})

describe('a checkout that is not built', () => {
  it('is told so with the command that builds it, by any Node', async () => {
    const bare = join(folder, 'bare')
    for (const node of [process.execPath, ...old]) {
      const ended = await shell(
        `mkdir -p '${bare}/bin' && cp '${root}'/bin/*.js '${bare}/bin' && echo '{"type": "module"}' > '${bare}/package.json' && '${node}' '${bare}/bin/run.js' --version`,
      )
      expect(ended).toMatchObject({
        status: 1,
        stdout: '',
        stderr: `flexrack is not built yet. Run: npm --prefix ${bare} run build\n`,
      })
    }
  })
})
