import type {Context} from '../../lib/base/index.ts'
import type {CopyContent, FromCopyKinds, RestoredFromCopy} from '../../lib/history/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import {planText} from '../terminal/render.ts'
import {contentText, fromCopyText} from './history-text.ts'
import {insideProject, wishOf, type WhenFlags} from './history.ts'

type Answer = <T>(value: T, text: (value: T) => string) => T

/** `workspace history --from`. */
export async function showCopy(copy: string, context: Context, answer: Answer): Promise<CopyContent> {
  const {listCopy} = await import('../../lib/history/index.ts')
  return answer(await listCopy(copy, context), contentText)
}

/** `workspace restore --from`: no rack, no node and no project is asked. */
export async function restoreFromCopy(
  {from, to, dryRun, ...flags}: WhenFlags & {from: string; to: string; dryRun: boolean},
  context: Context,
  answer: Answer,
): Promise<RestoredFromCopy | Plan> {
  const [{FROM_COPY}, {executePlan, throwIfFailed, valuesOf}] = await Promise.all([
    import('../../lib/history/index.ts'),
    import('../../lib/plan/index.ts'),
  ])
  const path = insideProject(flags.path)
  const wish = {...(await wishOf(flags)), ...(path !== undefined && {path}), to}
  const plan = await FROM_COPY.plan(from, wish, context)
  if (dryRun) return answer<Plan>(plan, planText)
  const outcomes = await executePlan(plan, FROM_COPY.handlers, {context}, context)
  throwIfFailed(outcomes)
  const [restored] = valuesOf<FromCopyKinds, 'history.from_copy'>(outcomes, 'history.from_copy')
  for (const one of restored?.refused.slice(0, 10) ?? [])
    context.reporter.warn(`${one} is a link that leads out of the folder, and was left out`)
  return answer(restored as RestoredFromCopy, fromCopyText)
}
