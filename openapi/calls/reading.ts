import type { Call } from './call.ts'

/** Searching, browsing, and the store's documents about itself. */
export const readingCalls: readonly Call[] = [
  found('serviceIndex', 'index', 'Where the searches are'),
  found('capabilities', 'values', 'Everything that finds something'),
  found(
    'search',
    'found',
    'Plans that cover two countries',
    'query=1+GB+for+the+United+States+and+Canada&limit=2',
  ),
  found('search', 'nothing_found', 'What was looked for and is not sold', 'query=Prada'),
  found('searchVouchers', 'found', 'Vouchers of the United States', 'country=US&limit=2'),
  found('searchVouchers', 'nothing_found', 'What would find something', 'search=zzzzzz'),
  found('searchTopups', 'found', 'Airtime, with facets', 'subType=voice&limit=1'),
  found('searchEsims', 'found', 'Plans that cover Germany', 'country=DE&limit=2'),
  found('browseVouchers', 'found', 'Vouchers of at most 25 USD', 'maxValue=25&limit=2'),
  found('browseVouchers', 'nothing_found', 'What would find something', 'country=AQ'),
  found('voucherBrands', 'brands', 'All brands'),
  found('voucherCountries', 'countries', 'All countries'),
  found('voucherFilters', 'filters', 'All values'),
  found('browseTopups', 'found', 'Topups of a region', 'region=south-america&limit=2'),
  found('topupCountries', 'countries', 'All countries'),
  found('topupRegions', 'regions', 'All regions'),
  found('browseEsims', 'found', 'Regional plans', 'regional=true&limit=1'),
  offer('voucher'),
  offer('topup'),
  offer('esim'),
  found('manifest', 'manifest', 'The whole manifest'),
  found('catalogManifest', 'manifest', 'The whole manifest'),
  found('jwks', 'keys', 'The keys of the store'),
  found('did', 'keys', 'The same keys'),
  found('live', 'live', 'The process answers'),
  found('ready', 'ready', 'Every part is well'),
  {
    operation: 'ready',
    name: 'not_ready',
    summary: 'The chain cannot be reached',
    status: 503,
    at: 'away',
    ask: () => ({}),
  },
]

function found(operation: string, name: string, summary: string, query?: string): Call {
  return {
    operation,
    name,
    summary,
    status: 200,
    ask: () => (query === undefined ? {} : { query }),
  }
}

function offer(kind: 'voucher' | 'topup' | 'esim'): Call {
  return {
    operation: `${kind}Offer`,
    name: 'offer',
    summary: 'A test offer of the sandbox',
    status: 200,
    ask: () => ({ params: { id: `TEST-${kind.toUpperCase()}-OK` } }),
  }
}
