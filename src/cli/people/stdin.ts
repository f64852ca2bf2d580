/** What comes on stdin, to its end or to `most` characters, where one that is too long is seen. */
export async function readStdin(most: number): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.length > most) break
  }
  return text
}
