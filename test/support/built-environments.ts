import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {makeContext} from '../../src/lib/base/index.ts'
import {ensureEnvironment, openHost} from '../../src/lib/host/index.ts'
import {openFleet} from '../../src/lib/ssh/index.ts'
import {sharedEnvironments} from './environments.ts'
import {startSshd} from './sshd.ts'

/** Builds environments where a package index can be reached, for nodes whose own network leads nowhere: they find them built. */
export async function buildEnvironments(all: string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-builder-'))
  const sshd = await startSshd()
  const node = {...sshd.target('builder'), root: `${sshd.home}/.flexrack`, environments: await sharedEnvironments(), labels: {}}
  const context = makeContext({env: {...process.env, FLEXRACK_HOME: folder}})
  const fleet = openFleet([node], context)
  try {
    const host = await openHost(fleet, node, context)
    for (const requirements of all) await ensureEnvironment(host, {requirements}, context)
  } finally {
    await fleet.close()
    await sshd.stop()
    await rm(folder, {recursive: true, force: true})
  }
}
