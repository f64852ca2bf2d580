import {appendFile, mkdtemp, readFile, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import type {Sweep, Swept} from '../../../src/lib/sweep/index.ts'
import {renderPage} from '../../support/browser.ts'
import {flexrack, type RunOptions} from '../../support/program.ts'
import {ENDLESS_SCRIPT, SWEEP_SCRIPT, writeSweep, type SweepFiles} from '../../support/sweep-script.ts'
import type {TrainRack} from '../../support/train.ts'

interface Project extends SweepFiles {
  folder: string
  run(args: string[], options?: RunOptions): ReturnType<typeof flexrack>
}

/** On a rack with a head that both kinds of sweeps use (sweep.test.ts). */
export function attendedTests(given: () => TrainRack): void {
  describe('sweeps whose command stays', () => {
    let setup: TrainRack
    const projects: SweepFiles[] = []

    beforeAll(() => void (setup = given()))
    afterAll(async () => {
      for (const one of projects) await one.remove()
    })

    async function project(
      name: string,
      sweep: string,
      parts: {script?: string; args?: string} = {},
    ): Promise<Project> {
      const folder = await mkdtemp(join(tmpdir(), 'flexrack-e2e-sweep-'))
      const files = await writeSweep(folder, name, sweep, parts)
      projects.push(files)
      return {
        ...files,
        folder,
        run: (words, options = {}) => flexrack(words, {cwd: folder, env: setup.rack.env, ...options}),
      }
    }

    test('a grid is tried whole, every point once, and the best one is exact', {timeout: 300_000}, async () => {
      const {run, starts, folder} = await project(
        'grid',
        'sampler: grid, parallel: 2, parameters: {x: [0, 1, 3], shape_name: [flat, deep]}',
      )
      const {status, stdout, stderr} = await run(['sweep', '--json'])
      expect(status, stderr).toBe(0)
      const swept = JSON.parse(stdout) as Swept
      expect(swept).toMatchObject({
        status: 'finished',
        limit: 6,
        best: {state: 'complete', params: {x: 1, shape_name: 'flat'}, value: 1 / 3},
      })
      expect(swept.trials.map((one) => [one.params.x, one.params.shape_name, one.value]).toSorted()).toEqual(
        [0, 1, 3]
          .flatMap((x) =>
            ['deep', 'flat'].map((shape) => [x, shape, (x - 1) ** 2 + 1 / 3 + (shape === 'deep' ? 0.5 : 0)]),
          )
          .toSorted(),
      )
      expect(await starts()).toHaveLength(6)

      const {status: plotted, stdout: chart} = await run(['sweep', 'plot', '--output', 'trials.svg'])
      expect([plotted, chart]).toEqual([0, expect.stringContaining(`loss of ${swept.sweep}, by trial`)])
      const page = await renderPage(`file://${folder}/trials.svg`, 1)
      expect(page.match(/<polyline /g)).toHaveLength(6)
      expect([...page.matchAll(/font-weight="600"[^>]*>([^<]*)</g)].map((one) => one[1])).toEqual([
        swept.sweep,
        'x',
        'shape_name',
        'loss',
      ])

      const more = await run(['sweep', '--resume', swept.sweep, '--json'])
      expect([more.status, (JSON.parse(more.stdout) as Swept).trials.length]).toEqual([0, 6])
      const journal = join(
        setup.rack.home,
        'state/local/nodes/node-1/home/.flexrack/sweeps',
        swept.sweep,
        'journal.log',
      )
      await appendFile(journal, '{"op_code": 4, "torn')
      const mended = await run(['sweep', '--resume', swept.sweep, '--json'])
      expect([mended.status, (JSON.parse(mended.stdout) as Swept).best?.value]).toEqual([0, 1 / 3])
      await writeFile(journal, (await readFile(journal, 'utf8')).replace('\n', '\nnonsense\n'))
      const damaged = await run(['sweep', '--resume', swept.sweep])
      expect([damaged.status, damaged.stderr]).toEqual([
        6,
        expect.stringMatching(/the sweep grid-sweep-\w{5} cannot go on: .*journal.log is damaged in line 2/),
      ])
      expect(JSON.parse((await run(['sweep', 'show', '--json'])).stdout)).toMatchObject({
        sweep: swept.sweep,
        best: {value: 1 / 3},
      })
    })

    test(
      "TPE with three trials at a time learns where the minimum is; every trial is a child of the sweep's record, with its parameters",
      {timeout: 300_000},
      async () => {
        const {run} = await project(
          'tpe',
          'sampler: tpe, seed: 3, trials: 12, parallel: 3, parameters: {x: {min: -4, max: 4}}',
        )
        const {status, stdout, stderr} = await run(['sweep', '--json'])
        expect(status, stderr + stdout).toBe(0)
        const swept = JSON.parse(stdout) as Swept
        expect(swept.trials.map((one) => one.state)).toEqual(Array.from({length: 12}, () => 'complete'))
        expect(swept.best?.value).toBeLessThan(1 / 3 + 1)
        const {runs} = JSON.parse((await run(['runs', 'list', '--json', '--limit', '50'])).stdout) as {
          runs: {run: string; sweep: string | null; status: string}[]
        }
        expect(runs.map((one) => [one.sweep, one.status])).toEqual(
          Array.from({length: 12}, () => [swept.sweep, 'finished']),
        )
        const shown = JSON.parse((await run(['runs', 'show', swept.best?.run ?? '', '--json'])).stdout) as {
          params: Record<string, string>
          tags: Record<string, string>
        }
        expect(shown.params.x).toBe(swept.best?.texts.x)
        expect(shown.tags).toMatchObject({
          'flexrack.sweep': swept.sweep,
          'mlflow.parentRunId': swept.tracked,
          'flexrack.trial': String(swept.best?.number),
          'flexrack.sweep.state': 'complete',
        })
      },
    )

    test(
      'ASHA ends trials that do worse than an earlier one at the same step, and their processes with them',
      {timeout: 300_000},
      async () => {
        const {run} = await project(
          'asha',
          'sampler: random, trials: 3, pruner: {name: asha, reduction: 2}, parameters: {x: {min: 0, max: 1}}',
          {script: ENDLESS_SCRIPT},
        )
        const {status, stdout, stderr} = await run(['sweep', '--json'])
        expect(status, stderr + stdout).toBe(0)
        const {trials} = JSON.parse(stdout) as Swept
        expect(trials.map((one) => one.state)).toEqual(['complete', 'pruned', 'pruned'])
        expect(trials[1]?.steps).toBeGreaterThan(0)
        for (const one of trials) expect(await setup.alive(one.run ?? '')).toEqual([])
        const {tags} = JSON.parse((await run(['runs', 'show', trials[1]?.run ?? '', '--json'])).stdout) as {
          tags: Record<string, string>
        }
        expect(tags['flexrack.sweep.state']).toBe('pruned')
      },
    )

    test(
      'after SIGKILL of the command its trials go on, a second command is refused while one drives, and --resume finds them: every trial once',
      {timeout: 300_000},
      async () => {
        const {run, starts, go} = await project(
          'killed',
          'sampler: grid, parallel: 2, parameters: {x: [0, 1, 2, 3, 4]}',
          {
            args: '--hold 0,1,2,3,4',
          },
        )
        let killed = false
        const {signal} = await run(['sweep'], {
          onOutput: ({stderr}, child) => {
            if (!killed && stderr.split(' started: run').length === 3) killed = child.kill('SIGKILL')
          },
        })
        expect(signal).toBe('SIGKILL')
        const before = JSON.parse((await run(['sweep', 'show', '--json'])).stdout) as Sweep
        expect(before).toMatchObject({status: 'interrupted', driver: null})
        const refused: Promise<unknown>[] = []
        const resumed = await run(['sweep', '--resume', 'latest'], {
          onOutput: ({stderr}) => {
            if (refused.length > 0 || stderr.split(' goes on: run').length !== 3) return
            refused.push(
              run(['sweep', '--resume', before.sweep])
                .then(async (second) => {
                  expect(second.status).toBe(4)
                  expect(second.stderr).toMatch(
                    new RegExp(`sweep ${before.sweep} is held by \\S+@\\S+ on node-1 \\(pid \\d+, since \\d+ s\\)`),
                  )
                })
                .finally(go),
            )
          },
        })
        await Promise.all(refused)
        expect(refused).toHaveLength(1)
        expect(resumed.status, resumed.stderr + resumed.stdout).toBe(0)
        const swept = JSON.parse((await run(['sweep', 'show', '--json'])).stdout) as Sweep
        expect(swept.trials.map((one) => [one.state, one.attempt])).toEqual(
          Array.from({length: 5}, () => ['complete', 1]),
        )
        expect(swept.trials.map((one) => one.params.x).toSorted()).toEqual([0, 1, 2, 3, 4])
        expect((await starts()).map((line) => line.split(' ')[0])).toEqual(['0', '1', '2', '3', '4'])
      },
    )

    test(
      'Ctrl-C stops the running trials and exits with 130; --resume starts these again, as runs of their own, and the grid is whole',
      {timeout: 300_000},
      async () => {
        const {run, starts, go} = await project('stopped', 'sampler: grid, parallel: 2, parameters: {x: [0, 1, 2]}', {
          args: '--hold 0,1,2',
        })
        let sent = false
        const {status, stderr} = await run(['sweep'], {
          onOutput: (output, child) => {
            if (!sent && output.stderr.split(' started: run').length === 3) sent = child.kill('SIGINT')
          },
        })
        expect(status).toBe(130)
        expect(stderr).toMatch(/flexrack sweep --resume stopped-sweep-/)
        const {sweep} = JSON.parse((await run(['sweep', 'show', '--json'])).stdout) as Sweep
        for (const number of [0, 1]) expect(await setup.alive(`${sweep}-${number}`)).toEqual([])
        await go()
        const resumed = await run(['sweep', '--resume', sweep, '--json'])
        expect(resumed.status, resumed.stderr + resumed.stdout).toBe(0)
        const {trials} = JSON.parse(resumed.stdout) as Swept
        expect(trials.map((one) => [one.state, one.run])).toEqual([
          ['complete', `${sweep}-0.2`],
          ['complete', `${sweep}-1.2`],
          ['complete', `${sweep}-2`],
        ])
        expect((await starts()).length).toBeGreaterThanOrEqual(3)
      },
    )

    test(
      'sweep stop ends a sweep that another command drives, and that command says so',
      {timeout: 300_000},
      async () => {
        const {run} = await project('elsewhere', 'sampler: grid, parameters: {x: [0, 1]}', {args: '--hold 0,1'})
        const stopping: Promise<{status: number | null; stdout: string}>[] = []
        const {status} = await run(['sweep'], {
          onOutput: ({stderr}) => {
            if (stopping.length === 0 && stderr.includes(' started: run'))
              stopping.push(run(['sweep', 'stop', '--json']))
          },
        })
        const [stopped] = await Promise.all(stopping)
        expect(stopped?.status, stopped?.stdout).toBe(0)
        const swept = JSON.parse((await run(['sweep', 'show', '--json'])).stdout) as Sweep
        expect([status, swept.status]).toEqual([0, 'stopped'])
        expect(await setup.alive(`${swept.sweep}-0`)).toEqual([])
      },
    )

    test(
      'a script that cannot run fails three trials and not a hundred, and the cause is told',
      {timeout: 300_000},
      async () => {
        const {run} = await project('typo', 'sampler: random, trials: 100, parameters: {x: {min: 0, max: 1}}', {
          script: 'import argparze\n',
        })
        const {status, stderr} = await run(['sweep'])
        expect(status).toBe(6)
        expect(stderr).toMatch(
          /the first 3 trials of sweep typo-sweep-\w{5} all failed, the last one because rank 0 on node-[12] ended with exit code 1: ModuleNotFoundError: No module named 'argparze'/,
        )
        const {trials, status: now} = JSON.parse((await run(['sweep', 'show', '--json'])).stdout) as Sweep
        expect([now, trials.map((one) => one.state)]).toEqual(['failed', ['failed', 'failed', 'failed']])
      },
    )

    test(
      'a trial that fails, or logs another metric, counts as failed, and the others go on',
      {timeout: 300_000},
      async () => {
        const script = SWEEP_SCRIPT.replace(
          'for step in',
          'if options.x == 0: raise SystemExit("no such x")\nfor step in',
        ).replace('"key": "loss"', '"key": "loss" if options.x != 3 else "lost"')
        const {run} = await project('some', 'sampler: grid, parallel: 2, parameters: {x: [0, 1, 2, 3]}', {script})
        const {status, stdout} = await run(['sweep', '--json'])
        expect(status, stdout).toBe(0)
        const {trials, best} = JSON.parse(stdout) as Swept
        const by = new Map(trials.map((one) => [one.params.x, one]))
        expect([0, 1, 2, 3].map((x) => by.get(x)?.state)).toEqual(['failed', 'complete', 'complete', 'failed'])
        expect(by.get(0)?.why).toMatch(/rank 0 on node-[12] ended with exit code 1: no such x/)
        expect(by.get(3)?.why).toMatch(/logged no metric loss, only lost/)
        expect(best?.params.x).toBe(1)
      },
    )

    test(
      'trials that find no free node wait for the end of one, and the sweep goes on',
      {timeout: 300_000},
      async () => {
        const {run, folder} = await project('waiting', 'sampler: grid, parallel: 4, parameters: {x: [0, 1, 2, 3]}')
        const manifest = join(folder, 'flexrack.yaml')
        await writeFile(
          manifest,
          (await readFile(manifest, 'utf8')).replace('launcher: plain', 'launcher: plain, exclusive: true'),
        )
        const {status, stdout, stderr} = await run(['sweep', '--json'])
        expect(status, stderr + stdout).toBe(0)
        const {trials} = JSON.parse(stdout) as Swept
        expect(trials.map((one) => one.state)).toEqual(['complete', 'complete', 'complete', 'complete'])
      },
    )
  })
}
