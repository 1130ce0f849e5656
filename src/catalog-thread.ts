import { constants, platform, setPriority } from 'node:os'
import { deserialize, serialize } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import type { KnownBrands } from './adapters/suppliers/zendit/brands.ts'
import { createZenditClient } from './adapters/suppliers/zendit/client.ts'
import { createZenditOffers } from './adapters/suppliers/zendit/offers.ts'
import type { CatalogJob, HeldList, ReadList } from './adapters/threads/catalog-job.ts'
import { transferable } from './adapters/threads/transferable.ts'
import { publishing } from './api/views/catalog-offer.ts'
import { type PackedCatalog, packCatalog, pricingOn } from './catalog/building/build-catalog.ts'
import { offersIn, withKindsOf } from './catalog/offer-records.ts'

/*
 * A thread that does one piece of work on the whole list of offers and ends, so that the memory it
 * took goes back. Like `service.ts`, it names the concrete parts that it is put together from.
 */

// Linux knows a nice value of each thread: this one gives way to the one that answers. Elsewhere it
// would be the whole process that gives way.
if (platform() === 'linux') setPriority(constants.priority.PRIORITY_LOW)

const job = workerData as CatalogJob
const done = await doneFor(job)
parentPort?.postMessage(done, transferable(done))

function doneFor(asked: CatalogJob): Promise<ReadList> | HeldList | PackedCatalog {
  switch (asked.type) {
    case 'read':
      return read(asked)
    case 'hold':
      return { offers: withKindsOf(asked.last, asked.kinds, asked.list) }
    case 'build':
      return build(asked)
  }
}

async function read(asked: CatalogJob & { readonly type: 'read' }): Promise<ReadList> {
  const brands: KnownBrands = asked.note === undefined ? new Map() : deserialize(asked.note)
  const client = createZenditClient(asked.supplier)
  const source = createZenditOffers(client, () => new Date(), brands)
  // Whoever stops the load ends the thread.
  const listing = await source.list(new AbortController().signal)
  return { ...listing, note: Uint8Array.from(serialize(brands)) }
}

function build({ offers, basis, siteUrl }: CatalogJob & { readonly type: 'build' }): PackedCatalog {
  return packCatalog(offersIn(offers), basis, publishing({ siteUrl, pricing: pricingOn(basis) }))
}
