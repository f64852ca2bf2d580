import {startTrainRack} from './test/support/train.ts'
import {startHead} from './src/lib/head/index.ts'
import {makeContext} from './src/lib/base/index.ts'
import {writeFileSync} from 'node:fs'
const setup = await startTrainRack(2)
await startHead(setup.rack.rack, setup.rack.fleet(), makeContext({env: setup.rack.env}))
writeFileSync('/tmp/sweep-rack.env', `export FLEXRACK_HOME=${setup.rack.env.FLEXRACK_HOME} FLEXRACK_RESERVATIONS=${setup.rack.env.FLEXRACK_RESERVATIONS}\n`)
process.on('SIGTERM', async () => { await setup.stop(); process.exit(0) })
setInterval(() => {}, 1e6)
