// Set up in the integration and e2e suites: each message between a command and a node is held against protocol/, and a
// test in whose time one is not as the protocol says has failed. Of this process they are seen at once; programs that
// it starts write theirs down (record-messages.cjs).
import {subscribe, unsubscribe} from 'node:diagnostics_channel'
import {afterAll, afterEach} from 'vitest'
import type {Message} from '../../src/lib/host/call.ts'
import {knownMessages} from './messages.ts'
import {readRecorded, removeRecorded} from './recording.ts'

let findings: string[] = []

function hold({verb, part, value}: Message): void {
  try {
    const messages = knownMessages()
    if (part === 'error') messages.checkError(verb, value)
    else messages.check(verb, part, value)
  } catch (error) {
    findings.push((error as Error).message)
  }
}

function refuse(): void {
  readRecorded().forEach(hold)
  const found = [...new Set(findings)]
  findings = []
  if (found.length > 0) throw new Error(`messages that protocol/ does not know:\n${found.join('\n')}`)
}

const told = (message: unknown): void => hold(message as Message)

subscribe('flexrack.message', told)
afterEach(refuse)
afterAll(() => {
  try {
    refuse() // of what ended after the last test
  } finally {
    unsubscribe('flexrack.message', told) // the next file of this process holds its own
    removeRecorded()
  }
})
