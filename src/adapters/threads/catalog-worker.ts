import { Worker } from 'node:worker_threads'
import type { PackedCatalog } from '../../catalog/building/build-catalog.ts'
import { openCatalog } from '../../catalog/catalog.ts'
import type { CatalogWorker, Joined } from '../../catalog/ports.ts'
import type { SupplierAccess } from '../../suppliers/supplier.ts'
import type { SupplierName } from '../../suppliers/suppliers.ts'
import type { CatalogJob, ReadList } from './catalog-job.ts'

export interface CatalogWorkerOptions {
  /** How the lists of suppliers are read, those of the preferred one first. */
  readonly suppliers: Readonly<Partial<Record<SupplierName, SupplierAccess>>>
  /** Stands in the addresses that finished offers carry. */
  readonly siteUrl: string
}

/** Reads lists and makes catalogs in threads of their own, each for one piece of work. */
export function createCatalogWorker({ suppliers, siteUrl }: CatalogWorkerOptions): CatalogWorker {
  const notes = new Map<string, Uint8Array>()
  return {
    suppliers: Object.keys(suppliers),
    async read(name, signal) {
      const supplier = name as SupplierName
      const access = suppliers[supplier]
      if (access === undefined) throw new Error(`The supplier ${name} is not connected`)
      const job = { type: 'read', supplier, access, note: notes.get(name) } as const
      const { note, ...list } = await inThread<ReadList>(job, signal)
      notes.set(name, note)
      return list
    },
    join: (joining, signal) => inThread<Joined>({ type: 'join', ...joining }, signal),
    async build(snapshot, basis, signal) {
      const job = { type: 'build', offers: snapshot.offers, basis, siteUrl } as const
      return openCatalog(await inThread<PackedCatalog>(job, signal), snapshot)
    },
  }
}

/** Garbage is collected sooner, which takes a little longer and much less of the process's memory. */
const resourceLimits = { maxYoungGenerationSizeMb: 16 }

const thread = new URL('../../app/catalog-thread.ts', import.meta.url)

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
