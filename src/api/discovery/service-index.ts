import { byPlural } from '../../catalog/good.ts'
import type { ParamSource } from '../../catalog/search/param-source.ts'
import type { ReadDeps } from '../deps.ts'
import { answers, type Reading, refusesAnyQuery } from '../operation.ts'
import {
  catalogPrefix,
  discoveryPath,
  discoveryPrefix,
  manifestPath,
  mcpPath,
  offerPath,
  openApiPath,
  searchPath,
} from '../paths.ts'
import { type Query, wholeListQuery } from '../query.ts'
import { ServiceIndex } from '../shapes/lists.ts'

/** The version of the discovery interface. */
export const discoveryVersion = '1.0.0'

export const capabilitiesPath = `${discoveryPrefix}/capabilities`

export const serviceIndex: Reading = {
  id: 'serviceIndex',
  method: 'GET',
  path: discoveryPrefix,
  group: 'Discovery',
  name: 'Where everything is',
  description:
    'The name of the store, the paths of its searches, and the way from an offer to buying it: its record in offers names the call. Not counted against any limit.',
  answers: answers('The index', ServiceIndex),
  refusals: refusesAnyQuery,
  access: 'free',
  ask,
}

function ask(given: ParamSource, { site }: ReadDeps): Query {
  return wholeListQuery(given, () => ({
    version: discoveryVersion,
    name: site.name,
    description: site.description,
    accepts_crypto: site.acceptsCrypto,
    delivery: 'instant',
    website: site.url,
    search: searchPath,
    catalogs: byPlural(discoveryPath),
    capabilities: capabilitiesPath,
    offers: byPlural((kind) => offerPath(kind, '{offerId}')),
    catalog: catalogPrefix,
    manifest: manifestPath,
    mcp: mcpPath,
    openapi: openApiPath,
  }))
}
