import {lstat, mkdir} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'

/**
 * A folder for Python environments that all tests of this user share: they are found by content hash, so reuse is safe,
 * and each (PyTorch, MLflow, MLServer) is built once a machine. Absolute path; 0700. Throws if somebody else owns it.
 */
export async function sharedEnvironments(): Promise<string> {
  const uid = process.getuid?.() ?? 0
  const folder = process.env.FLEXRACK_TEST_ENVIRONMENTS ?? join(tmpdir(), `flexrack-test-environments-${uid}`)
  await mkdir(folder, {recursive: true, mode: 0o700})
  const found = await lstat(folder)
  if (!found.isDirectory() || found.uid !== uid) throw new Error(`${folder} is not a folder of this user`)
  return folder
}
