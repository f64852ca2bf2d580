import {chmod, mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {expect, onTestFinished, test, vi} from 'vitest'
import {openBrowser} from '../../../../src/cli/head/ui.ts'
import {makeContext, silentReporter} from '../../../../src/lib/base/index.ts'

const LINK = 'http://127.0.0.1:4711/flexrack/v1/login?code=one-time'

test('the one-time link is in no command line: the browser gets a file that only its owner reads', async () => {
  const home = await mkdtemp(join(tmpdir(), 'flexrack-home-'))
  onTestFinished(() => rm(home, {recursive: true, force: true}))
  const opener = join(home, process.platform === 'darwin' ? 'open' : 'xdg-open')
  await writeFile(opener, `#!/bin/sh\nprintf %s "$*" > "${home}/argv.part" && mv "${home}/argv.part" "${home}/argv"\n`)
  await chmod(opener, 0o755)
  const remove = await openBrowser(
    LINK,
    makeContext({env: {HOME: home, PATH: `${home}:${process.env.PATH}`}, reporter: silentReporter}),
  )
  const argv = await vi.waitFor(() => readFile(join(home, 'argv'), 'utf8'), {timeout: 120_000})
  expect(argv).not.toContain('one-time')
  const file = fileURLToPath(argv)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).toContain(`content="0;url=${LINK}"`)
  await remove()
  expect((await readdir(home)).filter((name) => name.endsWith('.html'))).toEqual([])
})
