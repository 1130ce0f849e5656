import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { PackedCatalog } from '../../catalog/building/build-catalog.ts'
import { openCatalog } from '../../catalog/catalog.ts'
import type { CatalogWorker, Joined } from '../../catalog/ports.ts'
import type { SupplierAccess } from '../../suppliers/supplier.ts'
import type { SupplierName } from '../../suppliers/suppliers.ts'
import type { CatalogJob, JobResult, ReadList, SentJob } from './catalog-job.ts'
import { EndedEarly, messageOf, receive } from './message.ts'

export interface CatalogWorkerOptions {
  /** The access to each supplier, the preferred one first. */
  readonly suppliers: Readonly<Partial<Record<SupplierName, SupplierAccess>>>
  /** The base of the URLs in finished offers. */
  readonly siteUrl: string
  readonly environment: ProcessEnvironment
}

type Environment = Readonly<Record<string, string | undefined>>

interface ProcessEnvironment {
  /** The variables that a process starts with. Every process of the same account can read them. */
  readonly atStart: Environment
  /** The variables that it receives on standard input, which may contain secrets. */
  readonly told: Environment
}

/**
 * Reads lists and builds catalogs in child processes, one for each job. Buyers wait for the first catalog, so
 * only the processes after it run at a lower priority than the store.
 */
export function createCatalogWorker({
  suppliers,
  siteUrl,
  environment,
}: CatalogWorkerOptions): CatalogWorker {
  const inProcess = processesWith(environment, () => hasBuilt)
  const notes = new Map<string, Uint8Array>()
  let hasBuilt = false
  return {
    suppliers: Object.keys(suppliers),
    async read(name, signal) {
      const supplier = name as SupplierName
      const access = suppliers[supplier]
      if (access === undefined) throw new Error(`The supplier ${name} is not connected`)
      const job = { type: 'read', supplier, access, note: notes.get(name) } as const
      const { note, ...list } = await inProcess<ReadList>(job, signal)
      notes.set(name, note)
      return list
    },
    join: (joining, signal) => inProcess<Joined>({ type: 'join', ...joining }, signal),
    async build(snapshot, basis, signal) {
      const job = { type: 'build', offers: snapshot.offers, basis, siteUrl } as const
      const packed = await inProcess<PackedCatalog>(job, signal)
      hasBuilt = true
      return openCatalog(packed, snapshot)
    },
  }
}

const program = fileURLToPath(new URL('../../app/catalog-process.ts', import.meta.url))

function processesWith({ atStart, told }: ProcessEnvironment, givesWay: () => boolean) {
  /** Resolves with the result of the process. Rejects with its error, and when the signal aborts. */
  return async function inProcess<T>(job: CatalogJob, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    const child = spawn(process.execPath, [program], {
      env: { ...atStart },
      stdio: ['pipe', 'inherit', 'inherit', 'pipe'],
    })
    // If file descriptors ran out, such a child has no streams either.
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    const stop = () => child.kill('SIGKILL')
    signal.addEventListener('abort', stop)
    try {
      const ended = new Promise<string>((resolve) => {
        child.once('exit', (code, by) => resolve(by ?? `status ${code}`))
      })
      const [stdin, , , results] = child.stdio as unknown as [Writable, null, null, Readable]
      // A process that ends early reads no more of the job. Its missing result is the error that counts.
      stdin.on('error', () => {})
      const sent: SentJob = { job, environment: { ...told }, givesWay: givesWay() }
      for (const piece of messageOf(sent)) stdin.write(piece)
      const result = (await receive(results).catch(async (error: unknown) => {
        if (!(error instanceof EndedEarly)) throw error
        // A process that is killed, for example when out of memory, reports nothing itself.
        throw new EndedEarly(await ended)
      })) as JobResult
      if ('error' in result) throw result.error
      return result.done as T
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
      stop()
    }
  }
}
