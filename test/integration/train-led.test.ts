import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {connectHead, startHead, stopHead} from '../../src/lib/head/index.ts'
import {openRuns} from '../../src/lib/runs/index.ts'
import {openMlflow} from '../../src/lib/tracking/index.ts'
import {startTrainRack, type TrainRack} from '../support/train.ts'

/**
 * Ranks of the first attempt wait until they are ended; those of later ones log a value, where there is a head, and
 * leave an output.
 */
const SCRIPT = `
import json, os, time, urllib.request
from pathlib import Path
attempt, rank = os.environ["FLEXRACK_ATTEMPT"], os.environ["RANK"]
print("up in attempt", attempt, flush=True)
while attempt == "1": time.sleep(0.05)
uri = os.environ.get("MLFLOW_TRACKING_URI")
if uri and rank == "0":
    value = {"run_id": os.environ["MLFLOW_RUN_ID"], "key": "loss", "value": 0.5, "timestamp": int(time.time() * 1000), "step": 7}
    urllib.request.urlopen(urllib.request.Request(uri + "/api/2.0/mlflow/runs/log-metric", json.dumps(value).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["MLFLOW_TRACKING_TOKEN"]})).read()
(Path(os.environ["FLEXRACK_OUTPUTS"]) / f"model-{rank}.onnx").write_text(attempt)
`

describe("a tracked run whose leader's supervisor is killed", () => {
  let setup: TrainRack
  const context = () => makeContext({env: setup.rack.env})
  beforeAll(async () => {
    setup = await startTrainRack(3)
    await startHead(setup.rack.rack, setup.rack.fleet(), context())
  }, 900_000)
  afterAll(async () => {
    if (setup) await stopHead(setup.rack.rack, setup.rack.fleet(), context())
    await setup?.stop()
  })

  test(
    "goes on under another one, whose result, outputs and record are the run's, also after the old one has brought its own",
    {timeout: 300_000},
    async () => {
      let killed: Promise<void> | undefined
      const kill = async (run: string): Promise<void> => {
        const state = await readFile(
          join(setup.rack.home, 'state/local/nodes/node-1/home/.flexrack/runs', run, 'state.json'),
          'utf8',
        )
        process.kill((JSON.parse(state) as {pid: number}).pid, 'SIGKILL')
      }
      const {trained, news} = await setup.train(SCRIPT, {
        spec: {nodes: 2, spares: 1, outputs: ['*.onnx']},
        choice: {tracking: true},
        onLines: (lines, run) => {
          if (lines.length === 2) killed ??= kill(run)
        },
      })
      await killed
      const kept = JSON.parse(
        await readFile(join(setup.rack.home, 'state/local/nodes/node-1/home/.flexrack/head/tokens.json'), 'utf8'),
      ) as {tokens: Record<string, {runId: string; expiresAt: number}>}
      const tokens = Object.values(kept.tokens).filter((one) => one.runId === trained.trackedId)
      // the lost node never said that it needs it no more; it ends soon all the same, not in weeks
      expect(tokens).toHaveLength(1)
      expect(tokens[0]!.expiresAt).toBeLessThanOrEqual(Date.now() + 300_000)
      expect(trained).toMatchObject({
        status: 'finished',
        exit: 0,
        leader: 'node-2',
        attempts: 2,
        outputs: ['model-0.onnx'],
        recorded: true,
        left: {'node-1': [], 'node-2': [], 'node-3': []},
      })
      const elected = news.filter((one) => one.event === 'elected')
      expect(elected).toMatchObject([{node: 'node-2', term: expect.any(Number), instead: 'node-1'}])
      // 2, or more where node-3 noticed the loss so much later that a vote came too early
      const term = (elected[0] as unknown as {term: number}).term
      expect(term).toBeGreaterThanOrEqual(2)
      const head = await connectHead(setup.rack.rack, setup.rack.fleet(), context())
      const client = openMlflow({uri: head.uri, token: head.token})
      const artifacts = async (): Promise<string[]> =>
        (await client.walkArtifacts(trained.trackedId as string)).map((one) => one.path)
      expect(await client.getRun(trained.trackedId as string)).toMatchObject({
        status: 'FINISHED',
        metrics: {loss: {value: 0.5, step: 7}},
        tags: {'flexrack.attempts': '2'},
      })
      expect(await artifacts()).toEqual(expect.arrayContaining(['model-0.onnx', 'logs/attempt-2/rank-0.log']))

      const runs = openRuns(
        {rack: setup.rack.rack, fleet: setup.rack.fleet(), manifest: await setup.manifest()},
        context(),
      )
      expect((await runs.list({all: true, limit: 5})).runs[0]).toMatchObject({
        run: trained.run,
        status: 'finished',
        leader: 'node-2',
        term,
        recorded: true,
      })
      expect(await artifacts()).toContain('logs/attempt-1/rank-0.log') // of the old leader's node
      expect((await client.getRun(trained.trackedId as string)).status).toBe('FINISHED')
      expect(
        (await runs.look()).runs
          .find((one) => one.run === trained.run)
          ?.nodes.map((one) => [one.node, one.status, one.recorded]),
      ).toEqual([
        ['node-1', 'failed', true],
        ['node-2', 'finished', true],
        ['node-3', 'finished', true],
      ])
      await runs.close()
    },
  )
})
