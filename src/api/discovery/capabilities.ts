import { byPlural, goods } from '../../catalog/good.ts'
import type { ParamSource } from '../../catalog/search/param-source.ts'
import type { ReadDeps } from '../deps.ts'
import { answers, inDiscovery } from '../operation.ts'
import { discoveryPath } from '../paths.ts'
import { type Query, wholeListQuery } from '../query.ts'
import { Capabilities } from '../shapes/lists.ts'
import { capabilitiesPath, discoveryVersion } from './service-index.ts'

export const capabilities = inDiscovery({
  id: 'capabilities',
  path: capabilitiesPath,
  name: 'What can be searched for',
  description:
    'Every country, region, brand and sub-type that a search finds something with, and the currencies that the store takes from people.',
  answers: answers('All values', Capabilities),
  ask,
})

function ask(given: ParamSource, { liveCatalog, site }: ReadDeps): Query {
  return wholeListQuery(given, () => {
    const { sold } = liveCatalog.current()
    return {
      version: discoveryVersion,
      accepts_crypto: site.acceptsCrypto,
      delivery: 'instant',
      no_account_required: true,
      ...byPlural((kind) => ({
        ...goods[kind].capabilitiesIn(sold[kind]),
        query_url: discoveryPath(kind),
      })),
    }
  })
}
