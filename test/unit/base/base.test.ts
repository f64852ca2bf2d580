import {inspect} from 'node:util'
import {describe, expect, it} from 'vitest'
import {CliError, ERROR_CODES, Secret, isCliError, userPaths} from '../../../src/lib/base/index.ts'

describe('Secret', () => {
  it('does not show its value when printed, inspected, joined or serialised', () => {
    const secret = new Secret('hunter2')
    const shown = [
      `${secret}`,
      String(secret),
      JSON.stringify({secret}),
      inspect({secret}, {depth: 5, showHidden: true}),
      [secret].join(),
    ]
    for (const text of shown) expect(text).not.toContain('hunter2')
    expect(secret.reveal()).toBe('hunter2')
  })
})

describe('CliError', () => {
  it('takes its exit status from the table, for people and for --json alike', () => {
    for (const [code, {exit}] of Object.entries(ERROR_CODES)) {
      const error = new CliError(code as keyof typeof ERROR_CODES, 'a message')
      expect([error.exitCode, error.oclif.exit]).toEqual([exit, exit])
    }
  })

  it('can be told apart by code, and is never confused with another error', () => {
    expect(isCliError(new CliError('LOCKED', 'held'), 'NOT_FOUND', 'LOCKED')).toBe(true)
    expect(isCliError(new CliError('LOCKED', 'held'), 'NOT_FOUND')).toBe(false)
    expect(isCliError(new Error('LOCKED'))).toBe(false)
  })
})

describe('userPaths', () => {
  it('follows XDG, and keeps everything below FLEXRACK_HOME where that is set', () => {
    expect(userPaths({HOME: '/home/a'})).toEqual({
      config: '/home/a/.config/flexrack',
      state: '/home/a/.local/state/flexrack',
      cache: '/home/a/.cache/flexrack',
    })
    expect(userPaths({HOME: '/home/a', XDG_CONFIG_HOME: '/c'}).config).toBe('/c/flexrack')
    expect(userPaths({FLEXRACK_HOME: '/f', XDG_CONFIG_HOME: '/c'})).toEqual({
      config: '/f/config',
      state: '/f/state',
      cache: '/f/cache',
    })
  })
})
