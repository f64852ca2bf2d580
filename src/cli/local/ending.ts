import {CliError, type Context} from '../../lib/base/index.ts'
import type {planLocalUp} from '../../lib/local/index.ts'
import {confirm} from '../base/prompt.ts'

/** Before `local up` ends nodes on which something runs, it asks; what they share is gpus.ts. Errors: INTERRUPTED, those of confirm. */
export async function confirmEnding({steps}: Awaited<ReturnType<typeof planLocalUp>>, context: Context): Promise<void> {
  const busy = steps.filter((step) => step.kind === 'local.end' && step.input.processes !== 0).map((step) => step.node)
  if (busy.length === 0) return
  const sure = await confirm({message: `Something runs on ${busy.join(', ')}. End it?`, flag: '--yes'}, context)
  if (!sure) throw new CliError('INTERRUPTED', 'nothing was changed')
}
