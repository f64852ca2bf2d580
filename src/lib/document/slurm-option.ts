/**
 * An option of sbatch as manifest and rack file may add one: on one line, so that it cannot become a command of the
 * script, and none that would take over what the script itself says. See SBATCH DIRECTIVES in sbatch(1).
 */
export const SLURM_OPTION =
  /^--(?!(?:job-name|nodes|ntasks|ntasks-per-node|array|requeue|no-requeue|output|error|chdir|wrap|wait|parsable|hold|test-only|get-user-env|export|export-file|open-mode|help|version|usage)(?:=|$))[a-z][a-z0-9-]{1,40}(?:=[^\r\n\0\\"'`\s#][^\r\n\0\\"'`\s#]{0,500})?$/

export const SLURM_OPTION_RULE =
  'must be one option of sbatch as --name=value, without blanks and quotes, and none that flexrack sets itself (name, nodes, tasks, output, requeue, ...)'
