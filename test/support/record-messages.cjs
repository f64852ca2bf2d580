// Loaded before a program of ours that a test has started (recording.ts): writes down every message between it and a node, a line each.
const {subscribe} = require('node:diagnostics_channel')
const {appendFileSync} = require('node:fs')

const file = process.env.FLEXRACK_RECORD_MESSAGES
const write = (message) => {
  try {
    appendFileSync(file, `${JSON.stringify(message)}\n`)
  } catch {
    // The test is over and has taken its folder away.
  }
}
if (file && subscribe) subscribe('flexrack.message', write)
