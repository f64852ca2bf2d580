import {z} from 'zod'
import {sweepSeconds} from './duration.ts'
import {splitWords} from './words.ts'

/** Names that go into flags, placeholders and, in capitals, variables of the environment. */
const PARAMETER = /^[A-Za-z][A-Za-z0-9_.-]{0,59}$/

const range = z
  .strictObject({
    min: z.number().describe('Smallest value.'),
    max: z.number().describe('Largest value.'),
    scale: z
      .enum(['linear', 'log'])
      .default('linear')
      .describe('`log`: as many values between 0.001 and 0.01 as between 0.01 and 0.1.'),
    step: z
      .number()
      .positive()
      .optional()
      .describe('Only values this far apart, from `min` on. Where all three are whole numbers, so are the values.')
      .meta({examples: [1]}),
  })
  .describe('Numbers from `min` to `max`.')

const parameter = z.union([
  z
    .array(z.union([z.number(), z.string(), z.boolean()]))
    .min(1)
    .max(1000),
  range,
])

const pruners = ['none', 'asha', 'hyperband', 'median'] as const

const pruner = z.union([
  z.enum(pruners),
  z.strictObject({
    name: z.enum(pruners).describe('Which.'),
    warmup: z.int().min(0).max(1_000_000).optional().describe('No trial is ended before this step.'),
    reduction: z
      .int()
      .min(2)
      .max(100)
      .optional()
      .describe('At each rung one of this many trials continues (asha: 4, hyperband: 3).'),
    startup: z.int().min(0).max(1000).optional().describe('median: number of complete trials before it ends any (5).'),
    steps: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .describe('hyperband: number of steps of a complete trial, if known in advance.'),
  }),
])

/** The manifest's `sweep:`. */
export const sweep = z
  .strictObject({
    metric: z
      .string()
      .min(1)
      .max(250)
      .describe(
        'The metric to optimize, as the script logs it on the tracking server; the value at its last step counts.',
      )
      .meta({examples: ['test_accuracy']}),
    goal: z.enum(['maximize', 'minimize']).describe('Whether large or small values are good.'),
    sampler: z
      .enum(['grid', 'random', 'tpe', 'cmaes', 'qmc', 'gp'])
      .default('tpe')
      .describe(
        "Who chooses the values: every point of a `grid`, or one of Optuna's samplers: `random`, `tpe` (learns from what was tried), `cmaes` (numbers only), `qmc` (spread evenly), `gp` (a Gaussian process, which makes most of few trials; it has PyTorch installed beside Optuna on the head's node).",
      ),
    pruner: pruner
      .default('none')
      .describe(
        "Who ends trials that do badly while they run, by the values of the metric at its steps: Optuna's `asha` (successive halving), `hyperband`, `median`, or `none`. With options: `{name: asha, reduction: 3}`.",
      )
      .meta({examples: ['asha', {name: 'median', startup: 3}]}),
    trials: z
      .int()
      .min(1)
      .max(100_000)
      .optional()
      .describe('Number of trials; 20 by default. A grid tries each point at most once, by default all of them.'),
    parallel: z
      .int()
      .min(1)
      .max(1024)
      .default(1)
      .describe(
        'Number of trials at the same time; `--parallel` overrides it. Fewer if there are not enough GPUs or cores.',
      ),
    time: z
      .union([
        z.number().positive(),
        z.string().refine((text) => sweepSeconds(text) !== undefined, 'must be a duration such as 30m, 2h or 1d'),
      ])
      .optional()
      .describe(
        'After this time no further trial starts; running trials go on to their end. Seconds, or a duration such as `30m`, `2h`, `1d`.',
      )
      .meta({examples: ['2h']}),
    seed: z
      .int()
      .min(0)
      .max(4_294_967_295)
      .optional()
      .describe('The same seed chooses the same values, if trials run one after the other.'),
    parameters: z
      .record(
        z
          .string()
          .regex(PARAMETER, 'must begin with a letter and have letters, digits, dots, dashes and underscores only'),
        parameter,
      )
      .refine((all) => Object.keys(all).length > 0, 'must name at least one parameter')
      .describe('What is tried: a list of values, or numbers from `min` to `max`.')
      .meta({
        examples: [
          {
            learning_rate: {min: 1e-5, max: 0.1, scale: 'log'},
            batch_size: [16, 32, 64],
            layers: {min: 1, max: 4, step: 1},
          },
        ],
      }),
    arguments: z
      .union([
        z.string().check((context) => {
          const words = splitWords(context.value)
          if (typeof words === 'string') context.issues.push({code: 'custom', message: words, input: context.value})
        }),
        z.array(z.string()).max(1000),
      ])
      .optional()
      .describe(
        'What a trial adds to `train.command`; `{learning_rate}` stands for the value of that parameter. By default each parameter becomes a flag, `--learning-rate 0.01`. The values are always in the environment, too, as FLEXRACK_PARAM_LEARNING_RATE.',
      )
      .meta({examples: ['optimizer.lr={learning_rate}']}),
  })
  .describe('What `flexrack sweep` tries.')
