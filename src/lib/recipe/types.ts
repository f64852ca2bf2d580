import type {ServingProtocol} from '../protocol/index.ts'

/** How a model server is installed, started, found ready and stopped. */
export interface Recipe {
  name: string
  /** Absolute folder of recipe.yaml. */
  folder: string
  title: string
  /** Suffix of the model file, e.g. `.onnx`. */
  suffix: string
  /**
   * Whose words on its environment a model version brings: `mlflow`, its requirements.txt and python_env.yaml;
   * `requirements`, a requirements.txt if it has one.
   */
  modelEnvironment?: 'mlflow' | 'requirements'
  protocol: ServingProtocol
  /** It computes on CPUs alone. */
  cpuOnly?: boolean
  python: {atLeast: string; below: string | undefined}
  /** Text of the requirements file. */
  requirements: string
  ports: string[]
  files: Record<string, RecipeFileContent>
  start: {argv: string[]; env: Record<string, string>; restart: {max: number; windowSeconds: number}}
  ready: {path: string; seconds: number}
  graceSeconds: number
}

/** `filled`: placeholders in the text are filled in; copied files are left as they are. */
export type RecipeFileContent = {json: Record<string, unknown>} | {text: string; filled: boolean}

/** What placeholders stand for. */
export interface RecipeValues {
  /** Absolute path of the environment's python. */
  python: string
  /** Absolute path of the environment. */
  environment: string
  /** Absolute path of the folder the server is started in. */
  folder: string
  /** Address to bind. */
  host: string
  ports: Record<string, number>
  /** Name the server serves the model under. */
  model: string
  version: string
  /** Absolute path of the model file. */
  modelFile: string
  /** Absolute path of the folder with the files of the version. */
  modelFolder: string
}

/** A recipe with everything filled in. */
export interface RenderedRecipe {
  files: Record<string, string>
  argv: string[]
  env: Record<string, string>
  readyPath: string
}
