import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

/** An answer of a store, as far as its document speaks of it. */
export interface Answered {
  readonly method: string
  /** The pattern of its route, `/ai/vouchers`; undefined where there is none. */
  readonly route: string | undefined
  /** Its address as it came. */
  readonly url: string
  readonly status: number
  /** Its content type; undefined when there is no content. */
  readonly type: string | undefined
  readonly text: string
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly content?: object }>>
}

/** What the document is not about: pages and their assets, the document itself, and the operator's doors. */
export const undocumented: readonly string[] = [
  '/',
  '/errors',
  '/buy/:offerId',
  '/style.css',
  '/logo.svg',
  '/favicon.ico',
  '/robots.txt',
  '/openapi.json',
  '/ai/openapi.json',
  '/sandbox',
  '/sandbox/faucet',
  '/metrics',
  '/webhooks/supplier',
]

/** What answers where there is no operation: a path that is none, or another method of one. */
const outside: readonly number[] = [400, 404, 405, 413, 414, 415]

/** The path of a route as the document writes it: `:id` is `{id}` there. */
export function pathOfRoute(route: string): string {
  return route.replace(/:(\w+)/g, '{$1}')
}

/**
 * Compares answers with the checked-in document. Objects are taken as closed, although the document
 * leaves them open: a field that it does not know is a finding.
 *
 * @returns gives what is wrong with an answer, or undefined
 */
export function createDocumentCheck(): (answered: Answered) => string | undefined {
  const file = new URL('../../openapi.json', import.meta.url)
  const document = closed(JSON.parse(readFileSync(file, 'utf8'))) as OpenApi
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
  formats.default(ajv)
  ajv.addSchema(document, 'openapi')
  const compiled = new Map<string, ValidateFunction>()
  const validatorAt = (...pointer: readonly string[]) => {
    const ref = `openapi#/${pointer.map(escaped).join('/')}`
    const validate = compiled.get(ref) ?? ajv.compile({ $ref: ref })
    compiled.set(ref, validate)
    return validate
  }
  const shapeFault = (text: string, ...pointer: readonly string[]) => {
    const validate = validatorAt(...pointer)
    return validate(JSON.parse(text))
      ? undefined
      : ajv.errorsText(validate.errors, { dataVar: 'answer' })
  }

  return (answered) => {
    const { method, route, status, type, text } = answered
    if (method === 'OPTIONS' || (route !== undefined && undocumented.includes(route))) return
    const about = `${method} ${route ?? answered.url} ${status}`
    if (route === undefined) {
      if (type === undefined || !type.includes('json')) return
      if (!outside.includes(status)) return `${about} is answered where there is no operation`
      const name = /^\/ai(\/|\?|$)/.test(answered.url) ? 'DiscoveryError' : 'Problem'
      const fault = shapeFault(text, 'components', 'schemas', name)
      return fault && `${about}: ${fault}`
    }
    const path = pathOfRoute(route)
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const operation = document.paths[path]?.[verb]
    if (operation === undefined) return `${about} is no operation of openapi.json`
    const named = `${operation.operationId}, ${about}`
    const response = operation.responses[status]
    if (response === undefined) return `${named}: the status is not documented`
    if (method === 'HEAD' || type === undefined) return
    const [bare = ''] = type.split(';')
    if (!(bare in (response.content ?? {}))) return `${named}: ${bare} is not documented`
    const fault = shapeFault(
      text,
      ...['paths', path, verb, 'responses', String(status), 'content', bare, 'schema'],
    )
    return fault && `${named}: ${fault}`
  }
}

/** The same schemas, with objects that take no other fields than theirs. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed)
  if (typeof part !== 'object' || part === null) return part
  const entries = Object.entries(part).map(([name, value]) => [
    name,
    // Examples are no schemas.
    name === 'examples' ? value : closed(value),
  ])
  const isOpen = 'properties' in part && 'type' in part && !('additionalProperties' in part)
  return Object.fromEntries([...entries, ...(isOpen ? [['additionalProperties', false]] : [])])
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
