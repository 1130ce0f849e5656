import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Ask, Call } from '../../openapi/calls/call.ts'
import { callsOf } from '../../openapi/calls/refusals.ts'
import { documentSite } from '../../openapi/document.ts'
import { type Example, writeExamples } from '../../openapi/examples.ts'
import type { Operation } from '../../src/api/operation.ts'
import { operations } from '../../src/api/operations.ts'
import { routeOf } from '../../src/http/routes.ts'
import { createDocumentCheck } from '../harness/documented.ts'
import { type ExampleShop, openExampleShop } from './example-shop.ts'

// Every status and every code of every operation is asked of a real store. `npm run openapi` records
// examples of the answers, and any other run compares the answers with the document.

const isRecording = process.env['OPENAPI'] === 'record'
const recorded: Record<string, Example[]> = {}
let shop: ExampleShop

beforeAll(async () => {
  shop = await openExampleShop()
})
afterAll(async () => {
  await shop.close()
  if (isRecording) writeExamples(recorded)
})

describe.each(operations.map((operation) => [operation.id, operation] as const))(
  '%s',
  (id, operation) => {
    test.each(callsOf([operation]))('$status $name', async (call) => {
      const ask = await call.ask(shop)
      let response = await send(operation, call, ask)
      // A place in the minute of the limit may have come free since it was used up.
      while (call.at === 'busy' && response.status !== 429)
        response = await send(operation, call, ask)
      const text = await response.text()
      expect(response.status, text).toBe(call.status)
      if (!beforeRouting.includes(call.name)) expect(limitIn(response)).toBe(operation.limit)
      expectAsNamed(operation, call, JSON.parse(text))
      if (isRecording) record(id, exampleOf(call, ask, text))
      else expectDocumented(operation, response, text)
    })
  },
)

async function send(operation: Operation, { at = 'open' }: Call, ask: Ask): Promise<Response> {
  const { body, headers = {} } = ask
  return fetch(`${shop.urlOf(at)}${addressOf(operation, ask)}`, {
    method: operation.method,
    headers: {
      // From another client each time, so that only the busy one meets a limit.
      'x-forwarded-for': [10, ...randomBytes(3)].join('.'),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(await shop.headersOf(at)),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

function addressOf({ path }: Operation, { params = {}, query }: Ask): string {
  const named = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
  return query === undefined ? named : `${named}?${query}`
}

function expectAsNamed(
  { group }: Operation,
  { name, code }: Call,
  body: { readonly code?: string },
): void {
  // Errors of the discovery interface have no code.
  if (group !== 'Discovery') expect(body.code).toBe(code)
  // Without this, an example could say that something was found and show nothing.
  if (name === 'found') expect(body).not.toMatchObject({ items: [] })
}

/** Refused before anybody knows what is asked for, and so not counted. */
const beforeRouting: readonly string[] = ['invalid_url', 'not_found']

/** What a call was counted against, as its answer says. */
function limitIn({ headers }: Response): string | undefined {
  return /^"(\w+)"/.exec(headers.get('ratelimit-policy') ?? '')?.[1]
}

function record(id: string, example: Example): void {
  recorded[id] = [...(recorded[id] ?? []), example]
}

function exampleOf({ name, summary, status }: Call, ask: Ask, text: string): Example {
  return {
    name,
    summary,
    status,
    ...(typeof ask.body === 'object' ? { sent: ask.body } : {}),
    body: JSON.parse(shop.asOne(text, documentSite.url)),
  }
}

const faultOf = isRecording ? () => undefined : createDocumentCheck()

function expectDocumented(operation: Operation, response: Response, text: string): void {
  const fault = faultOf({
    method: operation.method,
    route: routeOf(operation),
    url: response.url,
    status: response.status,
    type: response.headers.get('content-type') ?? undefined,
    text,
  })
  expect(fault).toBeUndefined()
}
