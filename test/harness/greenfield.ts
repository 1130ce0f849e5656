import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'

/**
 * BTCPay's Greenfield API, from its own OpenAPI document (the fixture names the commit). Tests hold the
 * store's client and the sandbox's server to it.
 */
interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  /** Any one of them is enough. */
  readonly permissions: readonly string[]
  readonly body?: object
  /** The schemas of answers by status; null if the document names no content. */
  readonly answers: Readonly<Record<string, object | null>>
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly schema: object
}

interface Greenfield {
  readonly source: Readonly<Record<string, string>>
  readonly operations: Readonly<Record<string, Operation>>
  readonly schemas: Readonly<Record<string, object>>
}

const fixture = new URL('../fixtures/greenfield.json', import.meta.url)
export const greenfield: Greenfield = JSON.parse(readFileSync(fixture, 'utf8'))

const ajv = new Ajv({ strict: false, allErrors: true, coerceTypes: false })
ajv.addFormat('decimal', /^-?\d+(\.\d+)?$/)
ajv.addFormat('double', { type: 'number', validate: Number.isFinite })
ajv.addFormat('uri', (text: string) => URL.canParse(text))

/** Coerces types, because all values of a query are text. */
const queryAjv = new Ajv({ strict: false, coerceTypes: 'array' })

/**
 * @param path from `/api/v1` on, with the query
 * @param body parsed; undefined if nothing was sent
 * @throws an error that says what does not fit, if the document has no such request
 */
function expectRequestFits(method: string, path: string, body?: unknown): void {
  const { name, operation } = operationOf(method, path)
  expectQueryFits(name, operation, new URL(path, 'http://btcpay').searchParams)
  if (operation.body === undefined) {
    if (body !== undefined) throw new Error(`${name} takes no body`)
    return
  }
  expectFits(`The body of ${name}`, operation.body, body)
}

/**
 * @param body parsed; undefined if the answer has no body
 * @throws an error that says what does not fit, if the document has no such answer to this request
 */
export function expectAnswerFits(
  method: string,
  path: string,
  status: number,
  body?: unknown,
): void {
  const { name, operation } = operationOf(method, path)
  const title = `The answer ${status} of ${name}`
  const schema = operation.answers[status] ?? operation.answers['default']
  if (schema) {
    expectFits(title, schema, body)
    return
  }
  // Errors without a schema may still have a ProblemDetails body; 401, 403 and 404 can happen everywhere.
  const isKnown = String(status) in operation.answers || [401, 403, 404].includes(status)
  if (!isKnown) throw new Error(`${title} is not in the document`)
  if (body === undefined) return
  if (status < 400) throw new Error(`${title} has no body`)
  expectFits(title, greenfield.schemas['ProblemDetails'] as object, withoutPermission(body))
}

/** A 403 also names the missing permission, which the document does not mention. */
function withoutPermission(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('missingPermission' in body)) return body
  const { missingPermission: _, ...problem } = body
  return problem
}

/** @throws if the value does not fit the named schema, for example that of a webhook event */
export function expectShape(schema: string, value: unknown): void {
  expectFits(schema, { $ref: `#/schemas/${schema}` }, value)
}

/** A fixed segment takes precedence over a placeholder: `/api-keys/current`. */
const operations = Object.entries(greenfield.operations)
  .sort(([a], [b]) => a.split('{').length - b.split('{').length)
  .map(([name, operation]) => {
    return { name, operation, pattern: new RegExp(`^${name.replace(/\{\w+\}/g, '[^/]+')}$`) }
  })

function operationOf(method: string, path: string) {
  const call = `${method.toUpperCase()} ${withoutStore(path.split('?')[0] ?? '')}`
  const found = operations.find(({ pattern }) => pattern.test(call))
  if (found === undefined) throw new Error(`Greenfield has no ${call}`)
  return found
}

/** BTCPay's source serves the calls on an invoice below its store too, and its document lacks those paths. */
function withoutStore(path: string): string {
  return path.replace(/\/stores\/[^/]+\/invoices\//, '/invoices/')
}

/** Parameters that BTCPay's source accepts (`GreenfieldInvoiceController` of that commit) and its document lacks. */
const undocumented: Readonly<Record<string, object>> = {
  'GET /api/v1/stores/{storeId}/invoices': { includeArchived: { type: 'boolean' } },
}

const querySchemas = new Map<string, object>()

function expectQueryFits(name: string, { parameters = [] }: Operation, query: URLSearchParams) {
  const documented = parameters.filter((parameter) => parameter.in === 'query')
  const schemas = documented.map(({ name: key, schema }) => [key, schema] as const)
  const properties = { ...Object.fromEntries(schemas), ...undocumented[name] }
  const schema = querySchemas.get(name) ?? { properties, additionalProperties: false }
  querySchemas.set(name, schema)
  const values = [...new Set(query.keys())].map((key) => {
    const all = query.getAll(key)
    return [key, all.length > 1 ? all : all[0]] as const
  })
  expectFits(`The query of ${name}`, schema, Object.fromEntries(values), queryAjv)
}

function expectFits(title: string, schema: object, value: unknown, validator = ajv): void {
  const validate = compiled(validator, schema)
  if (!validate({ value })) throw new Error(`${title} does not fit: ${faultsOf(validate)}`)
}

const made = new Map<object, ValidateFunction>()

function compiled(validator: Ajv, schema: object): ValidateFunction {
  const known = made.get(schema)
  if (known !== undefined) return known
  const { schemas } = greenfield
  const whole = { schemas, type: 'object', properties: { value: schema }, required: ['value'] }
  const validate = validator.compile(whole)
  made.set(schema, validate)
  return validate
}

function faultsOf({ errors }: ValidateFunction): string {
  const faults = (errors ?? []).map(({ instancePath, message, params }) => {
    const extra = 'additionalProperty' in params ? ` (${params['additionalProperty']})` : ''
    return `${instancePath.replace(/^\/value/, '') || 'it'} ${message}${extra}`
  })
  return faults.join('; ')
}

/**
 * A fetch that compares every request and every answer with the document. What does not fit is collected in `faults`,
 * because the caller would take a thrown error for a broken connection.
 */
export function fittingFetch(inner: typeof fetch = fetch) {
  const faults: string[] = []
  const noting = (check: () => void) => {
    try {
      check()
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error))
    }
  }
  return {
    faults: faults as readonly string[],
    async fetch(input: Parameters<typeof fetch>[0], init: RequestInit = {}) {
      const { pathname, search } = new URL(String(input))
      const method = init.method ?? 'GET'
      const path = `${pathname}${search}`
      noting(() => expectRequestFits(method, path, parsed(init.body)))
      const response = await inner(input, init)
      const text = await response.clone().text()
      noting(() => expectAnswerFits(method, path, response.status, parsed(text)))
      return response
    },
  }
}

function parsed(text: unknown): unknown {
  return typeof text === 'string' && text !== '' ? JSON.parse(text) : undefined
}
