// Set up in the integration and e2e suites: each message between a command and a node is held against protocol/, and a
// test in whose time one is not as the protocol says has failed. Of this process they are seen at once; programs that
// it starts write theirs down (record-messages.cjs).
import {subscribe} from 'node:diagnostics_channel'
import {afterAll, afterEach} from 'vitest'
import type {Message} from '../../src/lib/host/call.ts'
import {Messages} from './messages.ts'
import {readRecorded, removeRecorded} from './recording.ts'

let messages: Messages | undefined
let findings: string[] = []

function hold({verb, part, value}: Message): void {
  try {
    messages ??= new Messages()
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

subscribe('flexrack.message', (message) => hold(message as Message))
afterEach(refuse)
afterAll(() => {
  try {
    refuse() // of what ended after the last test
  } finally {
    removeRecorded()
  }
})
