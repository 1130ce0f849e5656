import type { AuditWarning } from '@agentcash/discovery'
import { add } from './faults.ts'
import { documentAt } from './published.ts'
import { isRecord, recordAt, type Visit } from './visit.ts'

const where = 'GET /openapi.json'

/** The validator of indexers; undefined in an installed store, which has no packages for development. */
export const indexer = await import('@agentcash/discovery').catch(() => undefined)

export interface Operation {
  readonly method: string
  readonly path: string
}

/** Checks the document as indexers do. Returns its paid operations. */
export async function checkOpenApi(visit: Visit): Promise<readonly Operation[]> {
  const answer = await documentAt(visit, '/openapi.json', ({ paths }) => isRecord(paths))
  if (answer === undefined) return []
  if (indexer) await validate(visit, answer.text, indexer)
  else add(visit, 'listing_unchecked', where)
  return Object.entries(recordAt(answer.json, 'paths')).flatMap(([path, entry]) =>
    Object.entries(recordAt(entry))
      .filter(
        ([, operation]) =>
          /^\/[^/\\{]*[^{]*$/.test(path) && 'x-payment-info' in recordAt(operation),
      )
      .map(([verb]) => ({ method: verb.toUpperCase(), path })),
  )
}

/** Runs the validator of indexers on the text that was read, as a data URL, so that it fetches nothing. */
async function validate(
  visit: Visit,
  text: string,
  their: NonNullable<typeof indexer>,
): Promise<void> {
  const url = `data:application/json;base64,${Buffer.from(text).toString('base64')}`
  const read = await their.getOpenAPI(visit.origin, {}, AbortSignal.timeout(15_000), url)
  if (read.isErr()) add(visit, 'listing_error', where, read.error.message)
  const source = read.isErr() ? null : read.value
  report(visit, where, their.getWarningsForOpenAPI(source))
  if (source === null || their.isOpenApiParseFailure(source)) return
  report(visit, where, their.getWarningsForL2(their.checkL2ForOpenAPI(source)))
  report(visit, where, their.getWarningsForL4(their.checkL4ForOpenAPI(source)))
  for (const { path, method, authMode } of source.routes) {
    if (authMode !== 'paid') continue
    const warnings = their.getWarningsForL3(their.getL3ForOpenAPI(source, path, method))
    report(visit, `${where}: ${method} ${path}`, warnings)
  }
}

/** Adds what a validator of indexers says. */
export function report(
  visit: Visit,
  at: string,
  warnings: readonly Pick<AuditWarning, 'severity' | 'code' | 'message'>[],
): void {
  for (const { severity, code, message } of warnings) {
    const level = severity === 'error' || severity === 'warn' ? 'listing_error' : 'listing_remark'
    add(visit, level, at, `${code}: ${message}`)
  }
}
