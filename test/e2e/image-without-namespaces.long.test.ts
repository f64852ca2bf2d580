import {execFileSync} from 'node:child_process'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {buildProgram, flexrack, type Ended} from '../support/program.ts'

/** A rack whose nodes may make no user namespaces: what runs images there is proot, and sandboxes cannot be had. */
let home: string
const at = (): string[] => ['--project', join(home, 'code')]
const run = (...args: string[]): Promise<Ended> => flexrack(args, {env: {FLEXRACK_HOME: join(home, 'flexrack')}})
const project = (lines: string): Promise<void> =>
  writeFile(
    join(home, 'code/flexrack.yaml'),
    `name: inside\nworkspace:\n  image: oci:../layout:python\n${lines}train: {command: [train.py], launcher: plain, nodes: 2}\n`,
  )

beforeAll(async () => {
  buildProgram()
  home = await mkdtemp(join(tmpdir(), 'flexrack-without-'))
  await mkdir(join(home, 'code'))
  execFileSync('python3', [resolve(import.meta.dirname, '../node/image_support.py'), join(home, 'layout'), 'python'])
  const up = [process.execPath, resolve(import.meta.dirname, '../../bin/run.js'), 'local', 'up', '--nodes', '2']
  execFileSync(
    'unshare',
    ['-U', '-r', 'sh', '-c', 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', 'sh', ...up],
    {env: {...process.env, FLEXRACK_HOME: join(home, 'flexrack')}, stdio: 'ignore'},
  )
}, 300_000)

afterAll(async () => {
  await run('local', 'down')
  await rm(home, {recursive: true, force: true})
})

test(
  'images run by proot, which is told with what it loses; two ranks train, and nothing of them is left',
  {timeout: 600_000},
  async () => {
    await project('')
    await writeFile(
      join(home, 'code/train.py'),
      'import os\nprint(open("/etc/os-release").read().split()[1], os.environ["RANK"], flush=True)\n',
    )
    const checked = await run('check', ...at(), '--json')
    // the rack has no head
    const {error} = JSON.parse(checked.stdout) as {
      error: {details: {findings: {severity: string; node?: string; message: string}[]}}
    }
    expect(error.details.findings).toContainEqual(
      expect.objectContaining({
        severity: 'warning',
        node: 'node-1',
        message: expect.stringMatching(
          /^images run by proot, as bubblewrap does not work there \(.*user\.max_user_namespaces is 0\): nothing is separated there/,
        ) as string,
      }),
    )
    const up = await run('workspace', 'up', ...at())
    expect(up, up.stderr).toMatchObject({status: 0})
    expect(up.stderr).toContain('node-1 runs images by proot')
    const seen = await run(
      'workspace',
      'exec',
      ...at(),
      '--on',
      'node-1',
      '--',
      'sh',
      '-c',
      'cat /etc/os-release; pwd; exit 7',
    )
    expect(seen).toMatchObject({
      status: 7,
      stdout: expect.stringMatching(/^NAME="Test image"\nID=testimage\n\/\S+\/workspaces\/inside\/code\n$/) as string,
    })
    const trained = await run('train', ...at(), '--no-tracking')
    expect(trained, trained.stderr).toMatchObject({status: 0})
    expect(`${trained.stdout}${trained.stderr}`).toMatch(/image" 0[^]*image" 1|image" 1[^]*image" 0/)
  },
)

test('a sandbox is refused with the setting that forbids it, and nothing is changed', {timeout: 300_000}, async () => {
  await project('  isolate: true\n')
  for (const words of [
    ['workspace', 'up'],
    ['train', '--no-tracking'],
  ]) {
    const refused = await run(...words, ...at())
    expect(refused.status, refused.stderr).toBe(6)
    expect(refused.stderr).toMatch(
      /user\.max_user_namespaces is 0; ch-run and proot make no sandboxes[^]*sudo sysctl user\.max_user_namespaces=/,
    )
  }
})
