import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import type {EndpointRecord} from './endpoints.ts'
import {readDurable, syncFolder, writeDurably} from '../files/durable.ts'

/** Endpoint documents by name; null: there was none. */
export type Documents = Record<string, Pick<EndpointRecord, 'revision' | 'document'> | null>

interface Journal {
  /** As they were before. */
  before: Documents
}

/**
 * Several endpoint documents that become others all at once, also where the head is killed or its disk is full in between:
 * what was is written down first, and whoever finds that puts it back. That it goes is the moment of the change.
 */
export class Switch {
  readonly #journal: string
  readonly #endpoints: string

  constructor(headFolder: string) {
    this.#journal = join(headFolder, 'endpoint-switch.json')
    this.#endpoints = join(headFolder, 'endpoints')
  }

  /** Puts back what a change that did not come to its end has left. */
  async recover(): Promise<void> {
    const {before} = await readDurable<Journal>('head.switch', this.#journal, {before: {}})
    if (Object.keys(before).length > 0) await this.#putBack(before)
  }

  /** Throws where nothing has changed. */
  async change(before: Documents, after: Documents): Promise<void> {
    await writeDurably('head.switch', this.#journal, {before})
    try {
      await this.#write(after)
    } catch (error) {
      await this.#putBack(before)
      throw error
    }
    await this.#end()
  }

  async #putBack(before: Documents): Promise<void> {
    await this.#write(before)
    await this.#end()
  }

  async #write(documents: Documents): Promise<void> {
    for (const [name, record] of Object.entries(documents)) {
      const file = join(this.#endpoints, `${name}.json`)
      if (record) await writeDurably('head.endpoint', file, {revision: record.revision, document: record.document})
      else await rm(file, {force: true})
    }
  }

  async #end(): Promise<void> {
    await rm(this.#journal, {force: true})
    await syncFolder(join(this.#journal, '..'))
  }
}
