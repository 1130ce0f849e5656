import {
  type AuditWarning,
  checkL2ForOpenAPI,
  checkL4ForOpenAPI,
  getL3ForOpenAPI,
  getOpenAPI,
  getWarningsForL2,
  getWarningsForL3,
  getWarningsForL4,
  getWarningsForOpenAPI,
  isOpenApiParseFailure,
} from '@agentcash/discovery'
import { isRecord, recordAt, tell } from '../ask.ts'
import type { Visit } from '../findings.ts'
import type { Operation } from '../operations.ts'

const where = 'GET /openapi.json'
const verbs = ['get', 'put', 'post', 'delete', 'patch'] as const

/** The parts of the OpenAPI document that the doctor uses. */
export interface Described {
  /** Paid operations without a parameter in their path. */
  readonly paid: readonly Operation[]
  /** Whether the document lists this operation without a price. */
  readonly isUnpriced: (operation: Operation) => boolean
}

const nothing: Described = { paid: [], isUnpriced: () => false }

/** Checks the document. Returns its paid operations. */
export async function checkOpenApi(visit: Visit): Promise<Described> {
  const { ask, note } = visit
  const answer = await ask('/openapi.json', { headers: { accept: 'application/json' } })
  if (answer.status !== 200) {
    note('openapi_missing', where, tell(answer))
    return nothing
  }
  const { json } = answer
  if (!isRecord(json) || !isRecord(json['paths'])) {
    note('openapi_unreadable', where)
    return nothing
  }
  if (!/^3\.1\.\d+$/.test(String(json['openapi']))) {
    note('openapi_version', where, String(json['openapi']))
  }
  const info = recordAt(json, 'info')
  if (typeof info['x-guidance'] !== 'string') note('openapi_guidance', where)
  if (typeof recordAt(info, 'contact')['email'] !== 'string') note('openapi_contact', where)
  const paths = Object.entries(json['paths'])
  for (const [path] of paths) if (!isOwnPath(path)) note('openapi_elsewhere', where, path)
  const operations = operationsOf(paths.filter(([path]) => isOwnPath(path)))
  for (const one of operations) checkOperation(visit, one)
  await validateAsIndexers(visit, answer.text)
  const unpriced = operations.filter(({ isPaid }) => !isPaid).map(nameOf)
  return {
    paid: operations.filter(({ isPaid, path }) => isPaid && !path.includes('{')),
    isUnpriced: (operation) => unpriced.includes(nameOf(operation)),
  }
}

interface Documented extends Operation {
  readonly isPaid: boolean
  readonly said: Readonly<Record<string, unknown>>
}

/** Whether a path begins with one slash: clients that resolve it as a reference otherwise leave the store. */
function isOwnPath(path: string): boolean {
  return /^\/(?![/\\])/.test(path)
}

function operationsOf(paths: readonly (readonly [string, unknown])[]): Documented[] {
  return paths.flatMap(([path, entry]) =>
    verbs
      .filter((verb) => isRecord(recordAt(entry)[verb]))
      .map((verb) => {
        const said = recordAt(entry, verb)
        return { method: verb.toUpperCase(), path, said, isPaid: 'x-payment-info' in said }
      }),
  )
}

function checkOperation({ note }: Visit, { method, path, said, isPaid }: Documented): void {
  const at = `${where}: ${method} ${path}`
  if (isPaid) {
    if (!('402' in recordAt(said, 'responses'))) note('openapi_no_402', at)
  } else if (!Array.isArray(said['security'])) note('openapi_security', at)
}

/**
 * Runs the validator of indexers. It gets the text that was read as a data URL, so that it fetches nothing
 * itself.
 */
async function validateAsIndexers(visit: Visit, text: string): Promise<void> {
  const url = `data:application/json;base64,${Buffer.from(text).toString('base64')}`
  const read = await getOpenAPI(visit.origin, {}, AbortSignal.timeout(15_000), url)
  if (read.isErr()) {
    visit.note('listing_error', where, read.error.message)
    return
  }
  const source = read.value
  report(visit, where, getWarningsForOpenAPI(source))
  if (source === null || isOpenApiParseFailure(source)) return
  report(visit, where, getWarningsForL2(checkL2ForOpenAPI(source)))
  report(visit, where, getWarningsForL4(checkL4ForOpenAPI(source)))
  for (const { path, method, authMode } of source.routes) {
    if (authMode !== 'paid') continue
    const warnings = getWarningsForL3(getL3ForOpenAPI(source, path, method))
    report(visit, `${where}: ${method} ${path}`, warnings)
  }
}

function report({ note }: Visit, at: string, warnings: readonly AuditWarning[]): void {
  for (const { severity, code, message } of warnings) {
    note(severity === 'info' ? 'listing_remark' : 'listing_error', at, `${code}: ${message}`)
  }
}

function nameOf({ method, path }: Operation): string {
  return `${method} ${path}`
}
