import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callsOf } from '../../openapi/calls/all.ts'
import type { Ask, Call } from '../../openapi/calls/call.ts'
import { documentSite } from '../../openapi/document.ts'
import { type Example, readExamples, writeExamples } from '../../openapi/examples.ts'
import type { Operation } from '../../src/desk/operation.ts'
import { operations } from '../../src/desk/operations.ts'
import { createDocumentCheck } from '../harness/documented.ts'
import { type ExampleShop, openExampleShop } from './example-shop.ts'

/** `npm run openapi` records what comes; every other run compares it with the document. */
const isRecording = process.env['OPENAPI'] === 'record'

const recorded = new Map<string, Example[]>()
let shop: ExampleShop

beforeAll(async () => {
  shop = await openExampleShop()
})
afterAll(async () => {
  await shop.close()
  if (isRecording) writeExamples(Object.fromEntries(recorded))
})

describe.each(operations.map((operation) => ({ ...operation, operation })))(
  '$id',
  ({ operation }) => {
    test.each(callsOf([operation]))('$status $name', async (call) => {
      const { response, ask, text } = await play(operation, call)
      expect(response.status, text).toBe(call.status)
      const body = JSON.parse(text)
      if (call.code !== undefined && 'code' in body) expect(body.code).toBe(call.code)
      const example = exampleOf(call, ask, text)
      if (isRecording) {
        recorded.set(operation.id, [...(recorded.get(operation.id) ?? []), example])
        return
      }
      const known = readExamples()[operation.id]?.find(({ name }) => name === call.name)
      expect(known, 'npm run openapi records the examples anew').toMatchObject({
        status: call.status,
        summary: call.summary,
      })
      expect(check({ call, operation, response, text })).toBeUndefined()
    })
  },
)

const checkAnswer = isRecording ? () => undefined : createDocumentCheck()

function check(seen: {
  call: Call
  operation: Operation
  response: Response
  text: string
}): string | undefined {
  const { operation, response, text } = seen
  return checkAnswer({
    method: operation.method,
    route: operation.path.replace(/\{(\w+)\}/g, ':$1'),
    url: response.url,
    status: response.status,
    type: response.headers.get('content-type') ?? undefined,
    text,
  })
}

async function play(operation: Operation, call: Call) {
  const { at = 'open' } = call
  const ask = await call.ask(shop)
  const { body, headers = {} } = ask
  const response = await fetch(`${shop.urlOf(at)}${addressOf(operation, ask)}`, {
    method: operation.method,
    headers: {
      'x-forwarded-for': nextAddress(),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...shop.headersOf(at),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { response, ask, text: await response.text() }
}

function addressOf({ path }: Operation, { params = {}, query }: Ask): string {
  const named = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
  return query === undefined ? named : `${named}?${query}`
}

function exampleOf({ name, summary, status, code }: Call, ask: Ask, text: string): Example {
  return {
    name,
    summary,
    status,
    ...(code === undefined ? {} : { code }),
    ...(typeof ask.body === 'object' ? { sent: ask.body } : {}),
    body: JSON.parse(shop.asOne(text, documentSite.url)),
  }
}

let addresses = 0

/** Each call comes from another client, so that only the busy one meets a limit. */
function nextAddress(): string {
  addresses += 1
  return `10.9.${addresses >> 8}.${addresses & 255}`
}
