import {randomUUID} from 'node:crypto'
import {existsSync} from 'node:fs'
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {RackNode} from '../../src/lib/rack/index.ts'
import {sharedEnvironments} from './environments.ts'
import {mayMakeMachines} from './shared-home.ts'
import {startSshd} from './sshd.ts'

const CRON = '/usr/sbin/cron'

/** A machine with sshd and cron that can be rebooted. Needs root. */
export interface RebootableNode {
  node: RackNode
  home: string
  /**
   * Its power is cut, and it starts again: nothing is told to end, and the boot has another id. `meanwhile`: while it
   * is off.
   */
  reboot(meanwhile?: () => Promise<unknown>): Promise<void>
  stop(): Promise<void>
}

/**
 * What a boot of it is: /run, the users' crontabs and the boot's id are its own, and cron sees no system crontab, whose
 * jobs would be those of the machine of the test. It has its own /tmp where `$2` says so. Never start a systemd of the
 * system here: its first units empty /tmp.
 */
const MACHINE = `mount -t tmpfs none /run && mkdir -p /run/sshd /run/lock && mount --bind "$1/boot-id" /proc/sys/kernel/random/boot_id &&
mount --bind "$1/spool" /var/spool/cron/crontabs && mount --bind "$1/none" /etc/cron.d && mount --bind "$1/crontab" /etc/crontab || exit 1
shift
setsid ${CRON} -f </dev/null >/dev/null 2>&1 & exec "$@"`

/** Why there can be no such node here; undefined where there can. */
export function whyNotRebootable(): string | undefined {
  if (!mayMakeMachines()) return 'a machine to reboot needs root, for namespaces'
  return existsSync(CRON) ? undefined : `a machine to reboot needs ${CRON}`
}

export async function startRebootable(): Promise<RebootableNode> {
  const folder = await mkdtemp('/var/tmp/flexrack-rebootable-')
  for (const name of ['spool', 'none', 'home']) await mkdir(join(folder, name), {mode: 0o700})
  await writeFile(join(folder, 'crontab'), '')
  const power = join(folder, 'power')
  const boot = (): Promise<void> => writeFile(join(folder, 'boot-id'), `${randomUUID()}\n`)
  await boot()
  // The namespace ends with who made it.
  const inside = [
    'sh',
    '-c',
    'echo $$ >"$0"; exec "$@"',
    power,
    'unshare',
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
    'sh',
    '-c',
    MACHINE,
    'sh',
    folder,
  ]
  const home = join(folder, 'home')
  const sshd = await startSshd({home, inside, env: {FLEXRACK_REBOOT: ''}})
  return {
    node: {...sshd.target('node'), root: '~/.flexrack', environments: await sharedEnvironments(), labels: {}},
    home,
    async reboot(meanwhile) {
      process.kill(Number(await readFile(power, 'utf8')), 'SIGKILL')
      await boot()
      await meanwhile?.()
      await sshd.start()
    },
    async stop() {
      await sshd.stop()
      await rm(folder, {recursive: true, force: true})
    },
  }
}
