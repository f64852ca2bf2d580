import type {Context} from '../../lib/base/index.ts'
import type {HeadConnection} from '../../lib/head/index.ts'
import type {PeopleChange} from '../../lib/people/index.ts'
import {BaseCommand} from '../base/command.ts'
import {withRackHead} from '../base/rack-head.ts'
import {openSession, type Session} from '../base/session.ts'

export interface PeopleFlags {
  rack?: string | undefined
  'dry-run'?: boolean
}

/** A command about people: it asks the head of the rack, as who has logged in here, or as the account on its node. */
export abstract class PeopleCommand extends BaseCommand {
  /** Errors: those of connectHead. */
  protected async ask<T>(
    flags: PeopleFlags,
    use: (head: HeadConnection, session: Session, context: Context) => Promise<T>,
  ): Promise<T> {
    const context = await this.context()
    const session = await openSession({rack: flags.rack}, context)
    return withRackHead(session, context, (head) => use(head, session, context))
  }

  /** Has the head make changes, or shows with --dry-run what they would be. `done`: the answer, of the head's answers. */
  protected async change<T extends object>(
    flags: PeopleFlags,
    command: string,
    changes: readonly PeopleChange[],
    done: (answers: object[], head: HeadConnection) => T,
    text: (value: T) => string,
  ): Promise<unknown> {
    const {carryOutPeople, planPeople} = await import('../../lib/people/index.ts')
    if (flags['dry-run']) {
      const [{rack}, {planText}] = await Promise.all([
        openSession({rack: flags.rack}, await this.context()),
        import('../terminal/render.ts'),
      ])
      return this.answer(planPeople(command, rack.head.node, changes), planText)
    }
    return this.ask(flags, async (head, {rack}, context) => {
      const answers = await carryOutPeople(planPeople(command, rack.head.node, changes), head, context)
      return this.answer(done(answers, head), text)
    })
  }
}
