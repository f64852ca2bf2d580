import {z} from 'zod'

const fileName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must be a plain file name')
const copied = z
  .string()
  .regex(
    /^(\.\.\/[A-Za-z0-9_-]+\/)?[A-Za-z0-9][A-Za-z0-9._-]*$/,
    'must be a plain file name, or ../RECIPE/FILE of another recipe',
  )
const VERSION = z.string().regex(/^\d+\.\d+$/, 'must be a Python version such as "3.11", in quotes')

const file = z
  .union([
    z.strictObject({
      json: z
        .record(z.string(), z.unknown())
        .describe('Written as JSON. A text that is one placeholder alone becomes a number for a port.'),
    }),
    z.strictObject({text: z.string().describe('Written as it is, with placeholders filled in.')}),
    z.strictObject({copy: copied.describe('Copied from beside the recipe, or from another one: `../onnx/serve.py`.')}),
  ])
  .describe('A file of the folder that the server is started in.')

/** The recipe of a model server: the one source of its validation. Placeholders are listed in docs/runtimes.md. */
export const recipeSchema = z
  .strictObject({
    title: z.string().min(1).describe('What it is, for people.'),
    model: z
      .strictObject({
        suffix: z.string().min(1).describe('Which file of a model version is the model.'),
        environment: z
          .enum(['mlflow', 'requirements'])
          .optional()
          .describe(
            "The version says itself what it needs: `mlflow` installs its requirements.txt beside the recipe's, under the Python of its python_env.yaml; `requirements` a requirements.txt beside the model, if there is one.",
          ),
      })
      .describe('What it serves.'),
    protocol: z
      .enum(['v2', 'openai', 'mlflow'])
      .default('v2')
      .describe(
        "What the server speaks on its first port: the Open Inference Protocol v2, OpenAI's API, or what MLflow's own server speaks.",
      ),
    cpu_only: z
      .boolean()
      .default(false)
      .describe('It computes on CPUs alone: an endpoint that has `gpus` is refused, as they would lie idle.'),
    python: z
      .strictObject({
        at_least: VERSION.default('3.9').describe('Oldest version that works.'),
        below: VERSION.optional().describe('First version that is too new.'),
      })
      .prefault({})
      .describe('Python versions the requirements install under.'),
    requirements: fileName.describe('Requirements file beside the recipe; pin it whole.'),
    ports: z
      .array(z.string().regex(/^[a-z]+$/, 'must be a short name in small letters'))
      .min(1)
      .default(['http'])
      .describe('Ports the server listens on; the first one is what the gateway sends requests to.'),
    files: z
      .record(fileName, file)
      .default({})
      .describe(
        'Files written before it starts: a name, and `json: {...}`, `text: ...` with placeholders filled in, or `copy: FILE` of a file beside the recipe.',
      ),
    start: z
      .strictObject({
        argv: z.array(z.string()).min(1).describe('The command, one word an item; no shell.'),
        env: z.record(z.string(), z.string()).default({}).describe('Environment variables.'),
        restart: z
          .strictObject({
            max: z.int().min(0).describe('How often it may end.'),
            window_seconds: z.int().min(1).describe('Within how many seconds.'),
          })
          .default({max: 5, window_seconds: 60})
          .describe('Gives up when the server ended more than `max` times within the window.'),
      })
      .describe('How it is started.'),
    ready: z
      .strictObject({
        path: z.string().startsWith('/').describe('Path to request.'),
        seconds: z.int().min(1).default(120).describe('How long that may take; --timeout of the command wins.'),
      })
      .describe('Answers 200 once the model is loaded; how long that may take.'),
    stop: z
      .strictObject({grace_seconds: z.int().min(0).default(10).describe('Until SIGKILL.')})
      .prefault({})
      .describe('Seconds between SIGTERM and SIGKILL.'),
  })
  .meta({
    title: 'recipe',
    description: 'How a model server is installed, started, found ready and stopped: `runtimes/<name>/recipe.yaml`.',
  })

export type RecipeFile = z.output<typeof recipeSchema>
