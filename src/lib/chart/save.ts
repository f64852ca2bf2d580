import {writeFile} from 'node:fs/promises'
import {CliError} from '../base/index.ts'

/** Writes a picture. Errors: LOCAL_FAILED where the file cannot be written. */
export async function savePicture(file: string, svg: string): Promise<void> {
  try {
    await writeFile(file, svg)
  } catch (error) {
    throw new CliError('LOCAL_FAILED', `${file} cannot be written: ${(error as Error).message}`, {cause: error})
  }
}
