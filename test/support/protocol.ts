import {observeCalls} from '../../src/lib/host/call.ts'
import {Messages} from './messages.ts'

// Set up in every suite: each message between the library and a node is held against protocol/. FLEXRACK_MESSAGES=any lets all pass.
if (process.env.FLEXRACK_MESSAGES !== 'any') {
  let messages: Messages | undefined
  const held = (): Messages => (messages ??= new Messages())
  observeCalls({
    input: (verb, input) => held().check(verb, 'input', input),
    event: (verb, event) => held().check(verb, 'events', event),
    result: (verb, result) => held().check(verb, 'result', result),
    error: (verb, error) => held().checkError(verb, error),
  })
}
