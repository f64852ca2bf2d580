import {spawn, spawnSync, type ChildProcess} from 'node:child_process'
import {mkdir} from 'node:fs/promises'
import {join} from 'node:path'
import {askDebian} from '../../scripts/portable/debian.ts'
import {HERE, type Machine} from '../../scripts/portable/machines.ts'

/** The oldest Debian that mirrors have: its C library is 2.31, of 2020. */
const RELEASE = 'bullseye'
/**
 * Programs of ARM64 are run by qemu, in this user namespace alone (Linux 6.7 and later): binfmt-misc.rst of the kernel
 * says how it is asked for.
 */
const REGISTER = String.raw`:flexrack:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64-static:F`
const EMULATE = `mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && printf %s "$REGISTER" > /proc/sys/fs/binfmt_misc/register`
const ENTER = 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"'

/** A root file system with the C library of an older Debian and nothing else, not even a shell. */
export interface OldRoot {
  folder: string
  /** Runs a program there, to its end. */
  run(words: string[], env?: Record<string, string>): {status: number | null; stdout: string; stderr: string}
  start(words: string[], env?: Record<string, string>): ChildProcess
}

export async function oldRoot(machine: Machine, folder: string): Promise<OldRoot> {
  const root = join(folder, 'root')
  await mkdir(root, {recursive: true})
  await (await askDebian(['libc6'], machine, folder, RELEASE)).extract(root)
  for (const name of ['tmp', 'proc', 'dev', 'opt']) await mkdir(join(root, name), {recursive: true})
  const script = machine.name === HERE ? ENTER : `${EMULATE} && ${ENTER}`
  const words = (given: string[]): string[] => [
    '--user',
    '--map-root-user',
    '--mount',
    'sh',
    '-c',
    script,
    root,
    ...given,
  ]
  const environment = (env: Record<string, string> = {}): NodeJS.ProcessEnv => ({
    PATH: process.env.PATH,
    REGISTER,
    ...env,
  })
  return {
    folder: root,
    run(given, env) {
      const {status, stdout, stderr} = spawnSync('unshare', words(given), {
        env: environment(env),
        encoding: 'utf8',
        timeout: 600_000,
      })
      return {status, stdout, stderr}
    },
    start: (given, env) => spawn('unshare', words(given), {env: environment(env), stdio: ['ignore', 'pipe', 'pipe']}),
  }
}
