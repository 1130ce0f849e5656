import { constants, platform, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { CatalogJob, ReadList } from '../adapters/threads/catalog-job.ts'
import { transferable } from '../adapters/threads/transferable.ts'
import { publishing } from '../api/views/catalog-offer.ts'
import { type PackedCatalog, packCatalog, pricingOn } from '../catalog/building/build-catalog.ts'
import { joinLists, offersIn } from '../catalog/offer-records.ts'
import type { Joined } from '../catalog/ports.ts'
import { suppliers } from '../suppliers/suppliers.ts'

/*
 * A thread that does one piece of work on the whole list of offers and ends, so that the memory it
 * took goes back. Like `app.ts`, it names the concrete parts that it is put together from.
 */

// Linux knows a nice value of each thread: this one gives way to the one that answers. Elsewhere it
// would be the whole process that gives way.
if (platform() === 'linux') setPriority(constants.priority.PRIORITY_LOW)

const job = workerData as CatalogJob
const done = await doneFor(job)
parentPort?.postMessage(done, transferable(done))

function doneFor(asked: CatalogJob): Promise<ReadList> | Joined | PackedCatalog {
  switch (asked.type) {
    case 'read':
      return read(asked)
    case 'join':
      return joinLists(asked)
    case 'build':
      return build(asked)
  }
}

async function read(asked: CatalogJob & { readonly type: 'read' }): Promise<ReadList> {
  const reader = suppliers[asked.supplier].readOffers(asked.access, asked.note)
  // Whoever stops the load ends the thread.
  const listing = await reader.list(new AbortController().signal)
  return { ...listing, note: reader.note() }
}

function build({ offers, basis, siteUrl }: CatalogJob & { readonly type: 'build' }): PackedCatalog {
  return packCatalog(offersIn(offers), basis, publishing({ siteUrl, pricing: pricingOn(basis) }))
}
