import {expect, test} from 'vitest'
import {html} from '../../../../../src/lib/head/service/page/html.ts'
import {LivePages, liveParts} from '../../../../../src/lib/head/service/page/live.ts'
import {Topic} from '../../../../../src/lib/head/service/page/topics.ts'

test('what a node tells in another shape ends neither the head nor the watching', async () => {
  let load: unknown = 'none'
  const topic = new Topic(
    () => Promise.resolve(load as number),
    20,
    () => {},
  )
  const live = liveParts(topic, ({value}) => ({load: html`${value?.toFixed(1)}`}))
  const told: string[] = []
  const pages = new LivePages()
  const ends = [pages.watch('view', '/', live, (message) => told.push(String(message)))]
  await expect.poll(() => topic.seen.value).toBe('none')
  ends.push(pages.watch('view', '/', live, (message) => told.push(String(message))))
  expect(told).toEqual([])
  load = 0.5
  await expect.poll(() => told).toHaveLength(2)
  expect(told[0]).toContain('0.5')
  for (const end of ends) end()
})
