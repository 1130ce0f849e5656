/**
 * Reads the body of a response as text, or returns undefined when it exceeds `maxBytes`. Reading stops
 * there, so an endless response cannot fill the memory.
 */
export async function readText(response: Response, maxBytes: number): Promise<string | undefined> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
