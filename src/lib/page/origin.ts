import type {Context} from '../base/index.ts'
import {openEndpoints} from '../endpoint/index.ts'
import {openTracking, type PageAsks} from '../head/index.ts'
import {why} from '../lineage/index.ts'
import type {PagePlace} from './answers.ts'

/** Where what is named comes from, as `flexrack why` tells without hashing. Errors: those of why. */
export async function originOf(place: PagePlace, name: string, context: Context): Promise<PageAsks['why']['answer']> {
  const endpoints = await openEndpoints(place, context, {looks: true})
  try {
    const {mlflow, elsewhere, close} = await openTracking(place, context)
    try {
      const {tree, broken} = await why(
        name,
        false,
        {rack: place.rack, fleet: place.fleet, mlflow, elsewhere, endpoints},
        context,
      )
      return {tree, broken}
    } finally {
      await close()
    }
  } finally {
    await endpoints.close()
  }
}
