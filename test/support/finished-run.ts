import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Tracking} from '../../src/lib/head/index.ts'

/** A run that has finished with these artifacts, by their paths; gives its name. */
export async function finishedRun(
  {mlflow}: Tracking,
  name: string,
  artifacts: Record<string, Buffer>,
): Promise<string> {
  const experiment = await mlflow.ensureExperiment('tiny')
  const run = await mlflow.createRun({
    experimentId: experiment.id,
    name,
    tags: {'mlflow.source.git.commit': 'c0ffee0123456789', 'flexrack.command': 'train.py'},
  })
  await mlflow.logBatch(run.id, {
    metrics: [{key: 'accuracy', value: 0.97, timestamp: Date.now(), step: 0}],
    params: {epochs: '3'},
  })
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-artifacts-'))
  try {
    for (const [path, bytes] of Object.entries(artifacts)) {
      await writeFile(join(folder, 'file'), bytes)
      await mlflow.uploadArtifact(run.id, path, join(folder, 'file'))
    }
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
  await mlflow.updateRun(run.id, {status: 'FINISHED', endTime: Date.now()})
  return name
}
