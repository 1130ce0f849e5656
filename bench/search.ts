import { startSupplier } from '../sandbox/supplier/server.ts'
import { searches } from '../src/api/discovery/search.ts'
import { createLiveCatalog } from '../src/catalog/catalog.ts'
import { inQuery } from '../src/http/in-query.ts'
import { createZenditClient } from '../src/suppliers/zendit/client.ts'
import { createZenditOffers } from '../src/suppliers/zendit/offers.ts'
import { type Figure, figure, quantile } from './figures.ts'
import { catalogOf, pricing } from './made-catalog.ts'

const rounds = 200

/** Typical searches of agents. Each is timed in process, from the raw query to the bytes of the answer. */
const queries = [
  ['voucher', '/ai/vouchers?search=amazon&country=US'],
  ['voucher', '/ai/vouchers?country=DE&limit=50'],
  ['voucher', '/ai/vouchers?subType=Restaurant'],
  ['voucher', '/ai/vouchers?search=amazn'],
  ['topup', '/ai/topups?country=CU'],
  ['topup', '/ai/topups?region=South%20America&subType=data'],
  ['topup', '/ai/topups'],
  ['esim', '/ai/esims?regions=Europe&country=FR'],
  ['esim', '/ai/esims?q=unlimited%20japan'],
] as const

export async function measureSearch(offers: number): Promise<Figure[]> {
  const supplier = await startSupplier({ apiKey: 'bench', offers })
  const client = createZenditClient({
    baseUrl: `${supplier.url}/v1`,
    apiKey: 'bench',
    timeoutMs: 60_000,
  })
  const listing = await createZenditOffers(client).list(new AbortController().signal)
  await supplier.stop()
  const records = listing.offers
  const at = performance.now()
  const liveCatalog = createLiveCatalog(catalogOf(records))
  const buildMs = performance.now() - at
  const site = {
    name: '',
    description: '',
    url: 'http://localhost',
    logo: '',
    contact: '',
    acceptsCrypto: [],
  }
  const deps = { liveCatalog, pricing, site }
  const samples: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    for (const [kind, url] of queries) {
      const startedAt = performance.now()
      searches[kind].ask(inQuery(url), deps).answer()
      samples.push((performance.now() - startedAt) * 1_000)
    }
  }
  const warm = samples.slice(queries.length * 10)
  return [
    figure(
      `Search in process, ${offers} offers, mixed queries, p50`,
      quantile(warm, 0.5),
      'µs',
      1_000,
    ),
    figure(`Search in process, ${offers} offers, mixed queries, p99`, quantile(warm, 0.99), 'µs'),
    figure(`Building the catalog and its index, ${offers} offers`, buildMs, 'ms'),
  ]
}
