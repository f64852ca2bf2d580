import {randomBytes} from 'node:crypto'
import {textIfThere} from '../../../base/index.ts'
import {writeTextDurably} from '../files/durable.ts'

const ADMIN_TOKEN = /^admin\.[\w-]{43}\s*$/

/**
 * A token that is there and cannot be read is not made anew: everybody who has it would be locked out, and nobody told
 * why.
 */
export async function openAdminToken(file: string): Promise<string> {
  const found = await textIfThere(file).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `the admin token ${file} cannot be read (${error.message}); make it readable, or remove it to have a new one made`,
      {cause: error},
    )
  })
  if (found !== undefined) {
    if (ADMIN_TOKEN.test(found)) return found.trim()
    throw new Error(`${file} holds no admin token; put it back, or remove it to have a new one made`)
  }
  const made = `admin.${randomBytes(32).toString('base64url')}`
  await writeTextDurably(file, `${made}\n`)
  return made
}
