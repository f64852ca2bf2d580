import {execFile} from 'node:child_process'
import {copyFile, mkdtemp, readdir, readFile, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {localUp} from '../../../src/lib/local/index.ts'
import type {StoppedSweep, Sweep} from '../../../src/lib/sweep/index.ts'
import {sharedEnvironments} from '../../support/environments.ts'
import {flexrack, terminal} from '../../support/program.ts'
import {writeSweep, type SweepFiles} from '../../support/sweep-script.ts'
import type {TrainRack} from '../../support/train.ts'

const PROGRAM = resolve(import.meta.dirname, '../../../bin/run.js')

interface Project extends SweepFiles {
  folder: string
  run(...args: string[]): ReturnType<typeof flexrack>
  show(): Promise<Sweep>
}

/** On a rack with a head that both kinds of sweeps use (sweep.test.ts). */
export function detachedTests(given: () => TrainRack): void {
  describe('sweeps that go on without a command', () => {
    let setup: TrainRack
    const projects: SweepFiles[] = []

    beforeAll(() => void (setup = given()))
    afterAll(async () => {
      // What a test that failed has left; a test that passes leaves nothing, see the last one.
      for (const pid of await drivers()) process.kill(pid, 'SIGKILL')
      for (const one of projects) await one.remove()
    })

    /** All of its trials are held. */
    async function project(
      name: string,
      {train = '', sweep = 'parallel: 2, parameters: {x: [0, 1, 2, 3]}'} = {},
    ): Promise<Project> {
      const folder = await mkdtemp(join(tmpdir(), 'flexrack-e2e-detach-'))
      const files = await writeSweep(folder, name, `sampler: grid, ${sweep}`, {args: '--hold 0,1,2,3', train})
      projects.push(files)
      const run: Project['run'] = (...words) => flexrack(words, {cwd: folder, env: setup.rack.env})
      return {
        ...files,
        folder,
        run,
        show: async () => JSON.parse((await run('sweep', 'show', '--json')).stdout) as Sweep,
      }
    }

    /** Processes that drive sweeps of this rack. */
    async function drivers(): Promise<number[]> {
      const found: number[] = []
      for (const name of (await readdir('/proc')).filter((one) => /^\d+$/.test(one))) {
        const [words, environment] = await Promise.all(
          ['cmdline', 'environ'].map((file) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '')),
        )
        if (
          words?.includes('\0sweep\0drive\0') &&
          environment?.split('\0').includes(`FLEXRACK_HOME=${setup.rack.home}`)
        )
          found.push(Number(name))
      }
      return found
    }

    async function detached({run}: Project, ...more: string[]): Promise<Sweep> {
      const {status, stdout, stderr} = await run('sweep', '--detach', '--json', ...more)
      expect(status, stderr + stdout).toBe(0)
      return JSON.parse(stdout) as Sweep
    }

    test(
      'a sweep goes on when its terminal is closed, says who drives it, and ends by itself',
      {timeout: 300_000},
      async () => {
        const own = await project('closed')
        const begun = await terminal([PROGRAM, 'sweep', '--detach'], [], {cwd: own.folder, env: setup.rack.env})
        expect(begun.status, begun.stdout).toBe(0)
        expect(begun.stdout).toMatch(
          /Sweep .*closed-sweep-\w{5}.* is going on without this command: process \d+ on \S+ drives it/,
        )
        const {sweep, background, driver, status} = await own.show()
        const pid = background?.pid as number
        expect([await drivers(), background?.state, status, driver]).toEqual([
          [pid],
          'running',
          'running',
          expect.stringContaining(`(in the background, process ${pid}) on node-1`),
        ])
        const fields = (await readFile(`/proc/${pid}/stat`, 'latin1')).split(') ')[1]?.split(' ') ?? []
        expect([fields[3], fields[4]]).toEqual([String(pid), '0']) // session, tty_nr
        process.kill(pid, 'SIGHUP')

        const second = await own.run('sweep', '--resume', sweep, '--detach')
        expect([second.status, second.stderr]).toEqual([4, expect.stringContaining(`sweep ${sweep} is held by `)])
        expect(second.stderr).toContain(`(in the background, process ${pid})`)
        expect((await own.run('sweep', 'list')).stdout).toContain(`process ${pid}`)

        await own.go()
        const followed = await own.run('sweep', 'logs', '-f')
        expect([followed.status, followed.stdout]).toEqual([
          0,
          expect.stringMatching(
            /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ sweep closed-sweep-\w{5} finished: 4 trials, the best is trial \d, run \S+$/m,
          ),
        ])
        expect(await own.show()).toMatchObject({
          status: 'finished',
          driver: null,
          background: {state: 'ended', why: null},
          best: {params: {x: 1}, value: 1 / 3},
        })
        expect((await own.starts()).length).toBe(4)
        expect(await drivers()).toEqual([])
        const again = await detached(own, '--resume', sweep)
        expect([again.status, again.background?.state, await drivers()]).toEqual(['finished', 'ended', []])
      },
    )

    test(
      'sweep stop ends its trials and the process, and proves it; --resume --detach starts them again',
      {timeout: 300_000},
      async () => {
        const own = await project('halt')
        const {sweep, background} = await detached(own)
        const pid = background?.pid as number
        const stopped = JSON.parse((await own.run('sweep', 'stop', '--json')).stdout) as StoppedSweep
        expect(stopped).toMatchObject({
          sweep,
          driver: expect.stringContaining(`process ${pid}`),
          background: {pid, how: 'by itself'},
        })
        expect(await drivers()).toEqual([])
        for (const number of [0, 1]) expect(await setup.alive(`${sweep}-${number}`)).toEqual([])
        expect((await own.show()).status).toBe('stopped')

        await own.go()
        await detached(own, '--resume', 'latest')
        await own.run('sweep', 'logs', '-f')
        const {status, trials} = await own.show()
        expect([status, trials.map((one) => one.state)]).toEqual([
          'finished',
          ['complete', 'complete', 'complete', 'complete'],
        ])
      },
    )

    test(
      'after SIGKILL of the process its trials go on, show says that nobody drives and the way on, and that way works',
      {timeout: 300_000},
      async () => {
        const own = await project('slain')
        const {sweep, background} = await detached(own)
        await expect.poll(() => own.starts()).toHaveLength(2)
        process.kill(background?.pid as number, 'SIGKILL')
        await expect
          .poll(() => own.show())
          .toMatchObject({status: 'interrupted', driver: null, background: {state: 'lost'}})
        const shown = (await own.run('sweep', 'show')).stdout
        expect(shown).toContain(`process ${background?.pid} on ${background?.machine} is gone without a word`)
        expect(shown).toContain(`flexrack sweep --resume ${sweep} --detach`)

        const resumed = await detached(own, '--resume', sweep)
        expect(resumed.background).toMatchObject({state: 'running'})
        await own.go()
        await own.run('sweep', 'logs', sweep.slice(0, -2), '-f')
        const {status, trials} = await own.show()
        expect([status, trials.map((one) => [one.state, one.attempt])]).toEqual([
          'finished',
          Array.from({length: 4}, () => ['complete', 1]),
        ])
        expect((await own.starts()).map((line) => line.split(' ')[0])).toEqual(['0', '1', '2', '3'])

        const dead = await project('slain-and-stopped')
        const left = await detached(dead)
        await expect.poll(() => dead.starts()).toHaveLength(2)
        process.kill(left.background?.pid as number, 'SIGKILL')
        await expect.poll(() => dead.show()).toMatchObject({driver: null})
        const stopped = JSON.parse((await dead.run('sweep', 'stop', '--json')).stdout) as StoppedSweep
        expect([stopped.driver, stopped.background, stopped.runs.toSorted()]).toEqual([
          null,
          null,
          [`${left.sweep}-0`, `${left.sweep}-1`],
        ])
        for (const number of [0, 1]) expect(await setup.alive(`${left.sweep}-${number}`)).toEqual([])
      },
    )

    test(
      'after a lost connection it goes on by itself, with the code that it began with',
      {timeout: 300_000},
      async () => {
        const own = await project('asleep')
        const {sweep} = await detached(own)
        await expect.poll(() => own.starts()).toHaveLength(2)
        await writeFile(join(own.folder, 'train.py'), 'raise SystemExit("half of a new idea")\n')
        process.kill((await setup.rack.status()).pid as number, 'SIGKILL')
        const log = join(setup.rack.home, 'state/background', `${sweep}.log`)
        await expect
          .poll(() => readFile(log, 'utf8'))
          .toMatch(/what runs goes on there, and the sweep goes on once there is a connection/)
        await localUp({nodes: 2, owner: process.pid, environments: await sharedEnvironments()}, setup.rack.context())
        await own.go()
        await own.run('sweep', 'logs', '-f')
        const {status, trials} = await own.show()
        expect([status, trials.map((one) => [one.state, one.attempt, one.why])]).toEqual([
          'finished',
          Array.from({length: 4}, () => ['complete', 1, null]),
        ])
      },
    )

    test(
      'sweep stop ends a process that waits for a connection, too, before there is one and after',
      {timeout: 300_000},
      async () => {
        for (const isBack of [false, true]) {
          const own = await project(`cut-${isBack}`)
          const {sweep, background} = await detached(own)
          await expect.poll(() => own.starts()).toHaveLength(2)
          process.kill((await setup.rack.status()).pid as number, 'SIGKILL')
          await expect.poll(() => readFile(background?.log as string, 'utf8')).toMatch(/next try in 10 s/)
          const up = (): Promise<unknown> => localUp({nodes: 2, owner: process.pid}, setup.rack.context())
          if (isBack) await up()
          else {
            const message = expect.stringMatching(
              new RegExp(
                `known here:\\n  ${sweep}: driven by process ${background?.pid} here, which has waited for a connection since .* \\(.*node-.*\\), and tries again for two days at most$`,
              ),
            ) as string
            for (const words of [['list'], ['show'], ['show', sweep.slice(0, -2)]]) {
              const reported = await own.run('sweep', ...words, '--json')
              expect([reported.status, JSON.parse(reported.stdout)]).toEqual([
                5,
                {
                  error: expect.objectContaining({
                    message,
                    hint: expect.stringContaining(`flexrack sweep stop ${sweep}`),
                  }),
                },
              ])
            }
          }
          const {status, stdout, stderr} = await own.run('sweep', 'stop', '--json')
          expect(await drivers()).toEqual([])
          // It may have had its connection again by then.
          if (isBack)
            expect([status, JSON.parse(stdout)], stderr).toEqual([
              0,
              expect.objectContaining({
                sweep,
                background: {pid: background?.pid, how: expect.stringMatching(/^(requested|by itself)$/)},
              }),
            ])
          else
            expect([status, JSON.parse(stdout)]).toEqual([
              5,
              {
                error: expect.objectContaining({
                  message: expect.stringContaining(
                    `process ${background?.pid} here, which drove sweep ${sweep}, is gone`,
                  ),
                  hint: `flexrack sweep stop ${sweep}`,
                }),
              },
            ])
          if (!isBack) {
            await up()
            expect(JSON.parse((await own.run('sweep', 'stop', sweep, '--json')).stdout)).toMatchObject({
              driver: null,
              background: null,
              runs: [expect.any(String), expect.any(String)],
            })
          }
          for (const number of [0, 1]) expect(await setup.alive(`${sweep}-${number}`)).toEqual([])
        }
      },
    )

    test(
      "what is known before, and what only the first trial shows, is told on the user's terminal, and nothing is left",
      {timeout: 300_000},
      async () => {
        const own = await project('greedy', {train: 'gpus: 7'})
        const refused = await own.run('sweep', '--detach')
        expect([refused.status, refused.stdout], refused.stderr).toEqual([7, ''])
        expect(refused.stderr).toMatch(/error: 1 node with 7 GPUs is asked for, and none fits/)
        expect((await own.run('sweep', 'show')).stdout).toMatch(
          /by nobody: process \d+ on \S+ has ended: 1 node with 7 GPUs/,
        )

        const identity = join(setup.rack.home, 'state/local/identity')
        await copyFile(identity, `${identity}.open`)
        try {
          await promisify(execFile)('ssh-keygen', ['-q', '-p', '-P', '', '-N', 'open sesame', '-f', identity])
          const locked = await terminal([PROGRAM, 'sweep', '--detach'], [['Passphrase of', 'open sesame\r']], {
            cwd: own.folder,
            env: {...setup.rack.env, SSH_AUTH_SOCK: ''},
          })
          expect([locked.status, locked.stdout]).toEqual([
            5,
            expect.stringContaining('has a passphrase, and in the background nobody is asked for it'),
          ])
          expect(locked.stdout).toContain('ssh-add')
        } finally {
          await copyFile(`${identity}.open`, identity)
        }
        expect(await drivers()).toEqual([])
      },
    )
  })
}
