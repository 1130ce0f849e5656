import type { ReadDeps } from '../deps.ts'
import { answers, type Reading, refusesAnyQuery } from '../operation.ts'
import type { ParamSource } from '../param-source.ts'
import { catalogPrefix, manifestPath, mcpPath, offerPath, openApiPath } from '../paths.ts'
import { type Query, wholeListQuery } from '../query.ts'
import { ServiceIndex } from '../shapes/lists.ts'
import { discoveryVersion, paths } from './paths.ts'

export const serviceIndex: Reading = {
  id: 'serviceIndex',
  method: 'GET',
  path: paths.index,
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
    catalogs: { vouchers: paths.vouchers, topups: paths.topups, esims: paths.esims },
    capabilities: paths.capabilities,
    offers: {
      vouchers: offerPath('voucher', '{offerId}'),
      topups: offerPath('topup', '{offerId}'),
      esims: offerPath('esim', '{offerId}'),
    },
    catalog: catalogPrefix,
    manifest: manifestPath,
    mcp: mcpPath,
    openapi: openApiPath,
  }))
}
