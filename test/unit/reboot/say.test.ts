import {expect, test} from 'vitest'
import {makeContext, silentReporter} from '../../../src/lib/base/index.ts'
import {rebootTitle, warnOfReboot} from '../../../src/lib/reboot/index.ts'

test('it is said once a command that a service will not come back, and not where it will or is not to', () => {
  const warned: string[] = []
  const context = makeContext({reporter: {...silentReporter, warn: (text) => warned.push(text)}})
  for (const by of ['none', 'none', 'systemd', 'cron', 'off'] as const)
    warnOfReboot('a', 'a model server', {by, why: by === 'none' ? 'there is no cron' : null}, context)
  expect(warned).toEqual(['a: a model server will not come back after a reboot of the node (there is no cron)'])
})

test('a plan names who starts it again', () => {
  expect((['systemd', 'cron', 'none', 'off'] as const).map((by) => rebootTitle({by, why: null}))).toEqual([
    ', and have systemd start it again after a reboot',
    ', and have cron start it again after a reboot',
    '',
    '',
  ])
})
