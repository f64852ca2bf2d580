import {observeCalls} from '../../src/lib/host/call.ts'
import {Messages} from './messages.ts'

// Set up in the integration suite. With FLEXRACK_MESSAGES=strict each message between the library and a node is held against protocol/. Not yet in the gate:
// the schemas do not name every field of rare messages yet (docs/status.md).
if (process.env.FLEXRACK_MESSAGES === 'strict') {
  let messages: Messages | undefined
  const held = (): Messages => (messages ??= new Messages())
  observeCalls({
    input: (verb, input) => held().check(verb, 'input', input),
    event: (verb, event) => held().check(verb, 'events', event),
    result: (verb, result) => held().check(verb, 'result', result),
    error: (verb, error) => held().checkError(verb, error),
  })
}
