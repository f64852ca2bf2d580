import {hostname} from 'node:os'
import {CliError, isCliError, processIdentity, type Context, type Reporter} from '../base/index.ts'
import {tellingReporter, type Order, type Reported} from './messages.ts'
import {readRecord, writeRecord, type BackgroundRecord} from './record.ts'

/** The side of startBackground that was started. Nothing here fails because the other side has gone. */
export interface Handover<T> {
  order: T
  /** Reports to the own log, and to who has started us, until `begun`. */
  reporter: Reporter
  /** What there may be only one of is ours: from now on we are found, and ended, by our name. */
  taken(): Promise<void>
  /** What was ours is lost, and is tried for again until `taken`: who looks is told since when, and why. */
  lost(why: string): Promise<void>
  /** From here on we are alone. */
  begun(): Promise<void>
  /** Ended well. */
  over(): Promise<void>
  failed(error: unknown): Promise<void>
}

/** Errors: USAGE where nobody has started us so. */
export async function openHandover<T>(context: Context): Promise<Handover<T>> {
  const {name, project, log, order} = await firstMessage<T>()
  process.umask(0o077)
  let record: BackgroundRecord | undefined
  let isAlone = false
  const tell = async (reported: Reported): Promise<void> => {
    if (isAlone || !process.connected) return
    await new Promise<void>((resolve) => process.send?.(reported, undefined, undefined, () => resolve()))
  }
  const end = async (why: string | null): Promise<void> => {
    // Another one may be busy with the same thing by now, and be found by its name.
    const now = await readRecord(name, context)
    if (record && now?.pid === record.pid && now.identity === record.identity)
      await writeRecord({...record, ended: new Date().toISOString(), why}, context).catch((error: Error) =>
        context.reporter.warn(`its end is not noted: ${error.message}`),
      )
  }
  /** Only told: that it cannot be noted ends nothing. */
  const note = async (waiting: BackgroundRecord['waiting']): Promise<void> => {
    if (!record || (waiting === undefined && record.waiting === undefined)) return
    const {waiting: _, ...rest} = record
    record = {...rest, ...(waiting && {waiting})}
    await writeRecord(record, context).catch((error: Error) =>
      context.reporter.warn(`who looks is not told of it: ${error.message}`),
    )
  }
  const leave = (): void => {
    isAlone = true
    if (process.connected) process.disconnect()
  }
  return {
    order,
    reporter: tellingReporter(context.reporter, (said) => void tell(said)),
    async taken() {
      if (record) return note(undefined)
      const identity = await processIdentity(process.pid)
      if (identity === undefined) throw new Error('this process is not to be found')
      record = {
        name,
        project,
        pid: process.pid,
        identity,
        machine: hostname(),
        started: new Date().toISOString(),
        ended: null,
        why: null,
        log,
      }
      await writeRecord(record, context)
    },
    lost: (why) => note({since: record?.waiting?.since ?? new Date().toISOString(), why}),
    async begun() {
      await tell({reported: 'begun'})
      leave()
    },
    async over() {
      await end(null)
      await tell({reported: 'over'})
      leave()
    },
    async failed(error) {
      const message = error instanceof Error ? error.message : String(error)
      await end(message)
      const {code, hint, details, exitCode} = isCliError(error) ? error : new CliError('BUG', '', {details: {log}})
      await tell({
        reported: 'failed',
        error: {
          code,
          message: isCliError(error) ? message : `something in flexrack went wrong: ${message}`,
          hint,
          details,
          exitCode,
        },
      })
      leave()
    },
  }
}

async function firstMessage<T>(): Promise<Order<T>> {
  if (!process.connected)
    throw new CliError('USAGE', 'this is what `flexrack sweep --detach` starts; it cannot be started by hand', {
      hint: 'flexrack sweep --detach',
    })
  return new Promise((resolve, reject) => {
    process.once('message', (message) => resolve(message as Order<T>))
    process.once('disconnect', () =>
      reject(new CliError('INTERRUPTED', 'whoever started this has gone before it said what for')),
    )
  })
}
