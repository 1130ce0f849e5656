import { until } from '../waiting.fixture.ts'
import { type SupplierOptions, startSupplier } from './server.ts'

export const apiKey = 'test-key'

// biome-ignore lint/suspicious/noExplicitAny: tests read answers as a stranger would, field by field.
type Json = any

interface Answer {
  readonly status: number
  readonly body: Json
}

export async function ask(url: string, body?: unknown, method?: string): Promise<Answer> {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

/** Polls until the record is final; the test's timeout ends a wait in vain. */
export async function finalOf(url: string): Promise<Json> {
  return until(async () => {
    const { body } = await ask(url)
    return body.status === 'DONE' || body.status === 'FAILED' ? body : undefined
  })
}

/** A small, fast supplier: a purchase takes about 40 ms. */
export function startTestSupplier(options: Partial<SupplierOptions> = {}) {
  return startSupplier({ apiKey, offers: 600, stepMs: 10, lateSeconds: 0.4, ...options })
}

export const person = [
  { key: 'recipient.firstName', value: 'Ada' },
  { key: 'recipient.lastName', value: 'Lovelace' },
]
