import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

/** The parts of an answer that the OpenAPI document describes. */
export interface Answered {
  readonly method: string
  /** The pattern of its route, such as `/buy/:offerId`; undefined if no route matched. */
  readonly route: string | undefined
  /** The path and query of the request. */
  readonly url: string
  readonly status: number
  /** Its content type; undefined without content. */
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

/** The statuses without an operation: for an unknown path, or another method of a known one. */
const outside: readonly number[] = [400, 404, 405, 413, 414, 415]

/** The path of a route in the document: `:id` becomes `{id}`. */
function pathOfRoute(route: string): string {
  return route.replace(/:(\w+)/g, '{$1}')
}

/** Pages, their assets and the operator's endpoints are not in the document; everything for programs must be. */
function isPage({ paths }: OpenApi, route: string): boolean {
  const isForPrograms = /^\/(ai|api)(\/|$)/.test(route) && route !== '/ai/openapi.json'
  return !isForPrograms && !(pathOfRoute(route) in paths)
}

/**
 * Compares answers with the checked-in document. Objects count as closed, although the document leaves them
 * open: an undocumented field is a fault.
 *
 * @returns a function that gives the fault of an answer, or undefined
 */
export function createDocumentCheck(): (answered: Answered) => string | undefined {
  const file = new URL('../../openapi.json', import.meta.url)
  const document = closed(JSON.parse(readFileSync(file, 'utf8'))) as OpenApi
  const faultAt = shapesOf(document)
  return (answered) => {
    const { method, route, url, status } = answered
    if (method === 'OPTIONS' || (route !== undefined && isPage(document, route))) return
    const fault =
      route === undefined
        ? faultOutside(answered, faultAt)
        : faultInside(document, answered, route, faultAt)
    return fault && `${method} ${route ?? url} ${status}${fault}`
  }
}

/** The violations of the schema at a place in the document, given as the parts of a JSON pointer. */
type FaultAt = (text: string, ...place: readonly string[]) => string | undefined

function shapesOf(document: OpenApi): FaultAt {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
  formats.default(ajv)
  ajv.addSchema(document, 'openapi')
  const compiled = new Map<string, ValidateFunction>()
  return (text, ...place) => {
    const ref = `openapi#/${place.map(escaped).join('/')}`
    const validate = compiled.get(ref) ?? ajv.compile({ $ref: ref })
    compiled.set(ref, validate)
    if (validate(JSON.parse(text))) return undefined
    // Names an undocumented field; the message of the validator does not.
    const faults = validate.errors?.map(({ instancePath, message, params }) =>
      [instancePath || 'the answer', message, params['additionalProperty']]
        .filter(Boolean)
        .join(' '),
    )
    return `: ${faults?.join('; ')}`
  }
}

/** Without an operation, JSON answers must be refusals in the form of their interface. */
function faultOutside({ url, status, type, text }: Answered, faultAt: FaultAt): string | undefined {
  if (!type?.includes('json')) return undefined
  if (!outside.includes(status)) return ' is answered where there is no operation'
  const shape = /^\/ai(\/|\?|$)/.test(url) ? 'DiscoveryError' : 'Problem'
  return faultAt(text, 'components', 'schemas', shape)
}

function faultInside(
  { paths }: OpenApi,
  { method, status, type, text }: Answered,
  route: string,
  faultAt: FaultAt,
): string | undefined {
  const path = pathOfRoute(route)
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  const operation = paths[path]?.[verb]
  if (operation === undefined) return ' is no operation of openapi.json'
  const { operationId, responses } = operation
  const response = responses[status]
  if (response === undefined) return `: the status is none of ${operationId}`
  if (method === 'HEAD' || type === undefined) return undefined
  const [bare = ''] = type.split(';')
  if (!(bare in (response.content ?? {}))) return `: ${bare} is no content of ${operationId}`
  const place = ['paths', path, verb, 'responses', String(status), 'content', bare, 'schema']
  const fault = faultAt(text, ...place)
  return fault && ` (${operationId})${fault}`
}

/** The same schemas with closed objects. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed)
  if (typeof part !== 'object' || part === null) return part
  const entries = Object.entries(part).map(([name, value]) => [
    name,
    // Examples are not schemas.
    name === 'examples' ? value : closed(value),
  ])
  const isOpen = 'properties' in part && 'type' in part && !('additionalProperties' in part)
  return Object.fromEntries([...entries, ...(isOpen ? [['additionalProperties', false]] : [])])
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
