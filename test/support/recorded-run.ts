import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Tracking} from '../../src/lib/head/index.ts'
import {finishedRun} from './finished-run.ts'
import {sha256, World} from './lineage.ts'

/** A finished run at a real head with these outputs, and with its record and all that this names. Returns its id there. */
export async function recordedRun(tracking: Tracking, name: string, outputs: Record<string, string>): Promise<string> {
  const {mlflow} = tracking
  await finishedRun(
    tracking,
    name,
    Object.fromEntries(Object.entries(outputs).map(([path, content]) => [path, Buffer.from(content)])),
  )
  const experiments = (await mlflow.searchExperiments()).map((one) => one.id)
  const [run] = await mlflow.searchRuns({experimentIds: experiments, filter: `tags.mlflow.runName = '${name}'`})
  if (!run) throw new Error(`there is no run ${name}`)
  const world = new World()
  const made = world.run(name, {
    tracked: run.id,
    data: [],
    outputs: Object.entries(outputs).map(([path, content]) => ({
      path,
      sha256: sha256(content),
      bytes: content.length,
    })),
  })
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-recorded-'))
  try {
    for (const [path, bytes] of world.artifacts) {
      await writeFile(join(folder, 'part'), bytes)
      await mlflow.uploadArtifact(run.id, path.slice(path.indexOf('/') + 1), join(folder, 'part'))
    }
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
  await mlflow.setTag(run.id, 'flexrack.run', name)
  await mlflow.setTag(run.id, 'flexrack.record', made.tags['flexrack.record'] as string)
  return run.id
}
