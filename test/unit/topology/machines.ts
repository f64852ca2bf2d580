import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import type {MachineFacts} from '../../../src/lib/protocol/index.ts'

/**
 * What the node program makes of a captured machine (test/node/machines.py writes it, and a test there holds it to the
 * capture).
 */
export function machine(name: string): MachineFacts {
  return JSON.parse(
    readFileSync(join(import.meta.dirname, '../../fixtures/machines', name, 'facts.json'), 'utf8'),
  ) as MachineFacts
}
