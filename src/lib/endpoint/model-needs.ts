import {join} from 'node:path'
import {CliError, textIfThere} from '../base/index.ts'
import type {ModelVersion} from '../tracking/index.ts'
import type {ModelNeeds} from './document.ts'

/** The document of an endpoint is in memory at the head: an example beyond this many characters is not kept. */
const LARGEST_EXAMPLE = 16 * 1024
const LARGEST_REQUIREMENTS = 256 * 1024

/**
 * What a model in MLflow's format says of its environment
 * (https://mlflow.org/docs/latest/ml/model/#model-customization): requirements.txt, the Python of python_env.yaml, and
 * serving_input_example.json. `folder` has its MLmodel. NOT_FOUND without requirements.
 */
export async function readNeeds(folder: string, version: ModelVersion): Promise<ModelNeeds> {
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
