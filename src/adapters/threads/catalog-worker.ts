import { Worker } from 'node:worker_threads'
import type { PackedCatalog } from '../../catalog/building/build-catalog.ts'
import { openCatalog } from '../../catalog/catalog.ts'
import type { CatalogWorker } from '../../catalog/ports.ts'
import type { CatalogJob, HeldList, ReadList, SupplierAccess } from './catalog-job.ts'

export interface CatalogWorkerOptions {
  readonly supplier: SupplierAccess
  /** Stands in the addresses that finished offers carry. */
  readonly siteUrl: string
}

/** Reads lists and makes catalogs in threads of their own, each for one piece of work. */
export function createCatalogWorker({ supplier, siteUrl }: CatalogWorkerOptions): CatalogWorker {
  let note: Uint8Array | undefined
  return {
    async read(signal) {
      const list = await inThread<ReadList>({ type: 'read', supplier, note }, signal)
      note = list.note
      return { offers: list.offers, sizes: list.sizes, rejected: list.rejected }
    },
    async hold(list, last, kinds, signal) {
      const job = { type: 'hold', list, last, kinds } as const
      return (await inThread<HeldList>(job, signal)).offers
    },
    async build(snapshot, basis, signal) {
      const job = { type: 'build', offers: snapshot.offers, basis, siteUrl } as const
      return openCatalog(await inThread<PackedCatalog>(job, signal), snapshot)
    },
  }
}

/** Garbage is collected sooner, which takes a little longer and much less of the process's memory. */
const resourceLimits = { maxYoungGenerationSizeMb: 16 }

const thread = new URL('../../catalog-thread.ts', import.meta.url)

/** What the thread gives; rejects with what it throws, and when it is stopped. */
function inThread<T>(job: CatalogJob, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const worker = new Worker(thread, { workerData: job, resourceLimits })
  const stop = () => worker.terminate()
  signal.addEventListener('abort', stop)
  worker.once('message', resolve)
  worker.once('error', reject)
  // After a message or an error this comes too late to say anything.
  worker.once('exit', () => reject(signal.reason ?? new Error('A thread ended without a result')))
  return promise.finally(() => signal.removeEventListener('abort', stop))
}
