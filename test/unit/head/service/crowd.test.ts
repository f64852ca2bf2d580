import {expect, test} from 'vitest'
import {Crowd, type Standing} from '../../../../src/lib/head/service/crowd.ts'
import {generator} from '../../../support/chaos/scenario.ts'

test('who came and has not left is there, in any order of coming and leaving', () => {
  const random = generator(7)
  const [crowd, model] = [new Crowd<number>(), new Set<Standing<number>>()]
  for (let step = 0; step < 2000; step++) {
    const there = [...model]
    const one = there[Math.floor(random() * there.length)]
    if (one && random() < 0.5) {
      expect(crowd.delete(one)).toBe(true)
      model.delete(one)
      expect([one.at, crowd.delete(one)]).toEqual([-1, false])
    } else model.add(crowd.add(step))
    expect(crowd.size).toBe(model.size)
  }
  expect(new Set(crowd.all())).toEqual(model)
  expect(crowd.all().map(({at}) => at)).toEqual(crowd.all().map((_, index) => index))
})

test('members may leave while all are gone through', () => {
  const crowd = new Crowd<string>()
  const all = ['a', 'b', 'c'].map((member) => crowd.add(member))
  const seen = crowd.all().flatMap(({at, member}) => {
    if (at < 0) return []
    crowd.delete(all[2]!)
    return [member]
  })
  expect(seen).toEqual(['a', 'b'])
})
