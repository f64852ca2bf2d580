import {execFile} from 'node:child_process'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'

/**
 * Opens a page in headless Chromium (Debian's package) with a fresh profile, lets its scripts run for `seconds` of
 * virtual time, and returns the document as it then stands. Throws if Chromium is missing or does not end within two
 * minutes.
 */
export async function renderPage(url: string, seconds = 20): Promise<string> {
  const profile = await mkdtemp(join(tmpdir(), 'flexrack-browser-'))
  try {
    const {stdout} = await promisify(execFile)(
      'chromium',
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--disable-dev-shm-usage',
        '--no-first-run',
        '--disable-sync',
        '--disable-background-networking',
        '--disable-component-update',
        `--user-data-dir=${profile}`,
        `--virtual-time-budget=${seconds * 1000}`,
        '--dump-dom',
        url,
      ],
      {timeout: 120_000, maxBuffer: 64 * 1024 * 1024},
    )
    return stdout
  } finally {
    await rm(profile, {recursive: true, force: true, maxRetries: 5})
  }
}
