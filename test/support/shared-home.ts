import {execFileSync, spawnSync} from 'node:child_process'
import {randomBytes, randomUUID} from 'node:crypto'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Rack} from '../../src/lib/rack/index.ts'
import {startSshd, type TestSshd} from './sshd.ts'

/**
 * Machines with one home between them, as NFS gives it to a rack: each has its own host name, machine id, card, boot
 * id, processes and /run/lock. Needs root.
 */
export interface SharedHome {
  /** What all of them see as HOME. */
  home: string
  rack: Rack
  stop(): Promise<void>
}

/** What makes a machine of a few namespaces: its name, a folder with its ids, and what is to run there. */
const MACHINE = `hostname "$1" && mount --bind "$2/machine-id" /etc/machine-id && mount --bind "$2/boot-id" /proc/sys/kernel/random/boot_id && mount --bind "$2/cards" /sys/class/net &&
mount -t tmpfs -o mode=1777 none /run/lock && shift 2 && exec "$@"`

const NAMESPACES = ['unshare', '--mount', '--uts', '--pid', '--fork', '--kill-child', '--mount-proc']

/** Whether this machine lets us make others of it. */
export function mayMakeMachines(): boolean {
  return (
    process.getuid?.() === 0 &&
    spawnSync(NAMESPACES[0] as string, [...NAMESPACES.slice(1), 'mount', '-t', 'tmpfs', 'none', '/run/lock']).status ===
      0
  )
}

/** `names` are host names. `sameMachineId`: as in clones of one image. */
export async function startSharedHome(names: string[], {sameMachineId = false} = {}): Promise<SharedHome> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-homes-'))
  const home = join(folder, 'home')
  await mkdir(home, {mode: 0o700})
  const ids = names.map(() => randomBytes(16).toString('hex'))
  const servers: TestSshd[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((one) => one.stop()))
    await rm(folder, {recursive: true, force: true})
  }
  try {
    for (const [index, name] of names.entries()) {
      const own = join(folder, name)
      await mkdir(join(own, 'cards', 'eth0', 'device'), {recursive: true})
      await writeFile(join(own, 'cards', 'eth0', 'address'), `02:00:00:00:00:0${index + 1}\n`)
      await writeFile(join(own, 'machine-id'), `${ids[sameMachineId ? 0 : index]}\n`)
      await writeFile(join(own, 'boot-id'), `${randomUUID()}\n`)
      servers.push(await startSshd({home, inside: [...NAMESPACES, 'sh', '-c', MACHINE, 'sh', name, own]}))
    }
  } catch (error) {
    await stop()
    throw error
  }
  const nodes = servers.map((server, index) => ({
    ...server.target(names[index] as string),
    root: '~/.flexrack',
    labels: {},
  }))
  return {
    home,
    rack: {
      name: 'shared',
      path: join(folder, 'shared.yaml'),
      nodes,
      head: {node: names[0] as string, bind: '127.0.0.1'},
    },
    stop,
  }
}

/** Every file below a folder, relative to it; to see that nothing is left. */
export function filesBelow(folder: string): string[] {
  return execFileSync('find', [folder, '-mindepth', '1'], {encoding: 'utf8'})
    .split('\n')
    .filter((line) => line !== '')
}
