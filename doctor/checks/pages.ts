import { isRecord, tell } from '../ask.ts'
import type { Visit } from '../findings.ts'

/** Checks the text for models (`/llms.txt`), and the keys that verify receipts. */
export async function checkPages({ ask, note }: Visit): Promise<void> {
  const text = await ask('/llms.txt')
  const isPage = /html/i.test(text.headers.get('content-type') ?? '')
  if (text.status !== 200 || isPage) note('llms_missing', 'GET /llms.txt', tell(text))
  const where = 'GET /.well-known/jwks.json'
  const answer = await ask('/.well-known/jwks.json')
  const keys = answer.status === 200 && isRecord(answer.json) ? answer.json['keys'] : undefined
  if (!Array.isArray(keys) || keys.length === 0) {
    note('jwks_missing', where, tell(answer))
    return
  }
  const isPrivate = keys.some((key) => isRecord(key) && ('d' in key || 'k' in key))
  if (isPrivate) note('jwks_private', where)
}
