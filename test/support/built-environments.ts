import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {makeContext} from '../../src/lib/base/index.ts'
import {ensureEnvironment, openHost} from '../../src/lib/host/index.ts'
import {openFleet} from '../../src/lib/ssh/index.ts'
import {sharedEnvironments} from './environments.ts'
import {startSshd} from './sshd.ts'

/**
 * Builds environments where a package index can be reached, for nodes whose own network leads nowhere: they find them
 * built. Their folders; `python`: a version of Python.
 */
export async function buildEnvironments(all: string[], python?: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-builder-'))
  // What the tests' own pip is told counts for packages of tests.
  const sshd = await startSshd({
    env: Object.fromEntries(
      Object.entries(process.env).filter(
        (entry): entry is [string, string] => entry[0].startsWith('PIP_') && entry[1] !== undefined,
      ),
    ),
  })
  const node = {
    ...sshd.target('builder'),
    root: `${sshd.home}/.flexrack`,
    environments: await sharedEnvironments(),
    labels: {},
  }
  const context = makeContext({env: {...process.env, FLEXRACK_HOME: folder}})
  const fleet = openFleet([node], context)
  try {
    const host = await openHost(fleet, node, context)
    const built: string[] = []
    for (const requirements of all)
      built.push((await ensureEnvironment(host, {requirements, ...(python !== undefined && {python})}, context)).path)
    return built
  } finally {
    await fleet.close()
    await sshd.stop()
    await rm(folder, {recursive: true, force: true})
  }
}
