import {join} from 'node:path'
import {CliError, textIfThere} from '../base/index.ts'
import type {Recipe} from '../recipe/index.ts'
import type {ModelVersion} from '../tracking/index.ts'
import type {ModelNeeds} from './document.ts'

/** The document of an endpoint is in memory at the head: an example beyond this many characters is not kept. */
const LARGEST_EXAMPLE = 16 * 1024
const LARGEST_REQUIREMENTS = 256 * 1024

/**
 * What a model says of its environment. `mlflow`: requirements.txt, the Python of python_env.yaml and
 * serving_input_example.json beside its MLmodel (https://mlflow.org/docs/latest/ml/model/#model-customization).
 * `requirements`: a requirements.txt alone, and none is none. NOT_FOUND where it is missing and has to be there, or is
 * too long.
 */
export async function readNeeds(
  folder: string,
  version: ModelVersion,
  kind: NonNullable<Recipe['modelEnvironment']>,
): Promise<ModelNeeds> {
  if (kind === 'requirements') {
    const text = (await textIfThere(join(folder, 'requirements.txt'))) ?? ''
    if (text.length <= LARGEST_REQUIREMENTS) return {requirements: text}
    throw new CliError('NOT_FOUND', `the requirements.txt of model ${version.name}/${version.version} is too long`)
  }
  const [requirements, environment, example] = await Promise.all(
    ['requirements.txt', 'python_env.yaml', 'serving_input_example.json'].map((name) =>
      textIfThere(join(folder, name)),
    ),
  )
  if (requirements === undefined || requirements.length > LARGEST_REQUIREMENTS) {
    throw new CliError(
      'NOT_FOUND',
      `model ${version.name}/${version.version} names no environment: it has no requirements.txt beside its MLmodel`,
      {hint: 'log it with mlflow.FLAVOUR.log_model, which writes one'},
    )
  }
  const python = /^python:\s*["']?(3\.\d+)/m.exec(environment ?? '')?.[1]
  return {
    requirements,
    ...(python !== undefined && {python}),
    ...(example !== undefined && example.length <= LARGEST_EXAMPLE && isJson(example) && {example}),
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
