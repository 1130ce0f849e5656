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
  /** How the lists of suppliers are read, those of the preferred one first. */
  readonly suppliers: Readonly<Partial<Record<SupplierName, SupplierAccess>>>
  /** Stands in the addresses that finished offers carry. */
  readonly siteUrl: string
  readonly environment: ProcessEnvironment
}

type Environment = Readonly<Record<string, string | undefined>>

interface ProcessEnvironment {
  /** What a process starts with, which every process of the same account can see. */
  readonly atStart: Environment
  /** What it is told on its standard input: any of it may be a secret. */
  readonly told: Environment
}

/**
 * Reads lists and makes catalogs in processes of their own, each for one piece of work. Until the first
 * catalog is built, buyers wait for it, so only later processes give way to the one that answers.
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
  /** What the process gives; rejects with what it throws, and when it is stopped. */
  return async function inProcess<T>(job: CatalogJob, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    const child = spawn(process.execPath, [program], {
      env: { ...atStart },
      stdio: ['pipe', 'inherit', 'inherit', 'pipe'],
    })
    const stop = () => child.kill('SIGKILL')
    signal.addEventListener('abort', stop)
    try {
      const notStarted = once(child, 'error').then(([error]) => Promise.reject(error))
      const ended = new Promise<string>((resolve) => {
        child.once('exit', (code, by) => resolve(by ?? `status ${code}`))
      })
      const [stdin, , , results] = child.stdio as unknown as [Writable, null, null, Readable]
      // A process that ends early takes no more of the job, and gives no result.
      stdin.on('error', () => {})
      const sent: SentJob = { job, environment: { ...told }, givesWay: givesWay() }
      for (const piece of messageOf(sent)) stdin.write(piece)
      const received = receive(results).catch(async (error: unknown) => {
        if (!(error instanceof EndedEarly)) throw error
        // Whoever is out of memory is killed, and says nothing itself.
        throw new EndedEarly(await ended)
      }) as Promise<JobResult>
      const result = await Promise.race([received, notStarted])
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
