import type {Context} from '../../lib/base/index.ts'
import type {HeadConnection} from '../../lib/head/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import {BaseCommand} from './command.ts'
import {withRackHead} from './rack-head.ts'
import type {Session, SessionFlags} from './session.ts'

export type ChangeFlags = SessionFlags & {'dry-run': boolean}

/** A command that asks the head of the rack, wherever the project's runs are recorded. Errors: those of connectHead. */
export abstract class HeadCommand extends BaseCommand {
  protected async askHead<T>(
    flags: SessionFlags,
    use: (head: HeadConnection, session: Session, context: Context) => Promise<T>,
  ): Promise<T> {
    const [session, context] = [await this.session(flags), await this.context()]
    return withRackHead(session, context, (head) => use(head, session, context))
  }

  /** Answers with what came of a change of the head, or with --dry-run with its plan. `plan`: of the head's node. */
  protected async changeHead<P extends Plan, T>(
    flags: ChangeFlags,
    plan: (node: string) => P,
    carryOut: (plan: P, head: HeadConnection, context: Context) => Promise<T>,
    text: (value: T) => string,
  ): Promise<P | T> {
    const [session, context] = [await this.session(flags), await this.context()]
    const change = plan(session.rack.head.node)
    if (flags['dry-run']) {
      const {planText} = await import('../terminal/render.ts')
      return this.answer(change, planText)
    }
    return withRackHead(session, context, async (head) => this.answer(await carryOut(change, head, context), text))
  }
}
