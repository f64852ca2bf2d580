import {join} from 'node:path'
import {ensurePrivateFolder, userPaths, writeWhole, type Context, textIfThere} from '../base/index.ts'
import type {Rack} from '../rack/index.ts'

/**
 * Keeps the certificates of a rack's head here, for programs that take a file of them (`curl --cacert`,
 * MLFLOW_TRACKING_SERVER_CERT_PATH). Gives its path; what is there is replaced where the head has others.
 */
export async function keepCertificates(rack: Rack, ca: string, context: Context): Promise<string> {
  const folder = join(userPaths(context.env).state, 'heads')
  const file = join(folder, `${rack.name}.pem`)
  if ((await textIfThere(file)) === ca) return file
  await ensurePrivateFolder(folder)
  await writeWhole(file, ca)
  return file
}
