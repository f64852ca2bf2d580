import type {Answer} from '../endpoint/index.ts'
import type {PageAsks} from '../head/index.ts'

/** Characters of an answer that a browser is shown. */
const MOST_TEXT = 64 * 1024

/** What an endpoint answered, as text: tensors a line each, anything else as JSON. Pure. */
export function answerFacts(answer: Answer): PageAsks['invoke']['answer'] {
  const text =
    'protocol' in answer
      ? JSON.stringify(answer.answer, null, 2)
      : answer.outputs
          .map(({name, datatype, shape, data}) => `${name}  ${datatype} (${shape.join(', ')})\n${JSON.stringify(data)}`)
          .join('\n\n')
  const cut =
    text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}\n… ${text.length - MOST_TEXT} more characters` : text
  return {text: cut, milliseconds: answer.milliseconds}
}
