import {describe, expect, test} from 'vitest'
import type {PageLines} from '../../../../../src/lib/head/types.ts'
import {Hands} from '../../../../../src/lib/head/service/page/hands.ts'
import {Tail} from '../../../../../src/lib/head/service/page/tail.ts'
import {rackOf} from '../../../../support/page-facts.ts'

const who = (view = 'view') => ({rack: 'lab', view, owner: 'alice@lab1', mlflow: 'http://127.0.0.1:9', racks: ['lab']})
const never = new AbortController().signal

describe('hands', () => {
  test('a question goes to the one that is meant, and its answer to who asked', async () => {
    const hands = new Hands()
    await hands.next('alice', who(), 0, never)
    await hands.next('bob', who(), 0, never)
    const asked = hands.ask('bob', 'stop', {run: 'digits-ab12c'})
    expect(await hands.next('alice', who(), 0, never)).toEqual([])
    const [question] = await hands.next('bob', who(), 1000, never)
    expect(question).toMatchObject({ask: 'stop', input: {run: 'digits-ab12c'}})
    expect(hands.answer('alice', question!.id, {value: {status: 'mine'}}), 'nobody answers for another').toBe(false)
    expect(hands.answer('bob', question!.id, {value: {status: 'stopped'}})).toBe(true)
    expect(await asked).toEqual({status: 'stopped'})
    expect(hands.answer('bob', question!.id, {value: {}})).toBe(false)
  })

  test('one that waits for questions gets one at once', async () => {
    const hands = new Hands()
    const waiting = hands.next('alice', who(), 10_000, never)
    const asked = hands.askAny('view', 'rack', {})
    const [question] = await waiting
    hands.answer('alice', question!.id, {value: rackOf(1)})
    expect((await asked).rack).toBe('lab')
  })

  test('one that has gone is not waited for, and what it was asked has failed', async () => {
    let now = 0
    const hands = new Hands(() => now)
    await hands.next('alice', who(), 0, never)
    const asked = hands.ask('alice', 'stop', {run: 'digits-ab12c'})
    hands.end('alice')
    await expect(asked).rejects.toMatchObject({status: 503})
    await hands.next('bob', who(), 0, never)
    now = 60_000
    expect(hands.find('bob')).toBeUndefined()
    await expect(hands.askAny('view', 'rack', {})).rejects.toMatchObject({status: 503})
  })

  test('an error of a node is told as it is, and another one is not asked to do the same', async () => {
    const hands = new Hands()
    await hands.next('alice', who(), 0, never)
    await hands.next('bob', who(), 0, never)
    const asked = hands.askAny('view', 'run', {run: 'x'})
    const questions = [...(await hands.next('alice', who(), 0, never)), ...(await hands.next('bob', who(), 0, never))]
    expect(questions).toHaveLength(1)
    for (const login of ['alice', 'bob'])
      hands.answer(login, questions[0]!.id, {error: {code: 'NOT_FOUND', message: 'there is no run x'}})
    await expect(asked).rejects.toThrow('there is no run x')
  })

  test('those that see other nodes, or by other accounts, are not asked', async () => {
    const hands = new Hands()
    await hands.next('alice', who('other'), 0, never)
    await expect(hands.askAny('view', 'rack', {})).rejects.toMatchObject({status: 503})
  })
})

test('who follows a log gets every byte once, in order, wherever they begin, while it grows', async () => {
  let log = ''
  let isLive = true
  const read = (from: number): Promise<PageLines> => {
    const part = log.slice(from, from + 50)
    const text = part.slice(0, part.lastIndexOf('\n') + 1)
    return Promise.resolve({
      rank: 0,
      attempt: 1,
      node: 'a',
      from,
      to: from + text.length,
      size: log.length,
      text,
      open: isLive || from + text.length < log.length,
      ranks: [0],
      attempts: [1],
    })
  }
  let ended = 0
  const tail = new Tail(read, () => ended++, 20)
  const got = ['', '']
  const follow = (index: number, from: number): (() => void) =>
    tail.follow(from, ({from: at, html}) => {
      expect(at).toBe(from + got[index]!.length)
      got[index] += html.replaceAll(/<[^>]*>/g, '')
    })
  log = 'line\n'.repeat(40)
  follow(0, 0)
  follow(1, 100)
  for (let index = 0; index < 10; index++) {
    log += `more ${index}\n`.repeat(3)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  isLive = false
  await expect.poll(() => got).toEqual([log, log.slice(100)])
  await expect.poll(() => ended).toBe(1)
})
