import type {FastifyInstance} from 'fastify'
import {Failure} from '../failure.ts'
import type {Parts} from '../parts.ts'

/** The log as it is: who asks looks at its chain, as this head may be the one that has changed it. */
export function addAuditApi(app: FastifyInstance, {audit}: Pick<Parts, 'audit'>): void {
  app.get('/flexrack/v1/audit', async () => ({segments: await audit.segments()}))
  app.get<{Params: {number: string}}>('/flexrack/v1/audit/:number', async ({params: {number}}) => {
    const text = /^\d{1,6}$/.test(number) ? await audit.segment(Number(number)) : ''
    if (text === '') throw new Failure(404, 'NOT_FOUND', `the log has no part ${number}`)
    return {text}
  })
}
