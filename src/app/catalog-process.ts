import { writeSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import type { CatalogJob, JobResult, ReadList, SentJob } from '../adapters/processes/catalog-job.ts'
import { messageOf, receive } from '../adapters/processes/message.ts'
import { publishing } from '../api/views/catalog-offer.ts'
import { type PackedCatalog, packCatalog, pricingOn } from '../catalog/building/build-catalog.ts'
import { joinLists, offersIn } from '../catalog/offer-records.ts'
import type { Joined } from '../catalog/ports.ts'
import { adoptEnvironment } from '../environment/process-environment.ts'
import { suppliers } from '../suppliers/suppliers.ts'

/*
 * A process that does one job on the whole list of offers and ends, so that its memory is returned to the
 * system. It reads the job from its standard input, and writes the result to descriptor 3. Like `app.ts`, it
 * names the concrete parts that it is put together from.
 */

const resultDescriptor = 3

// Only the store ends this process. Ctrl-C in a terminal reaches both, and the store may still be answering.
process.on('SIGINT', () => {})

const { job, environment, givesWay } = (await receive(process.stdin)) as SentJob
if (givesWay) setPriority(constants.priority.PRIORITY_LOW)
adoptEnvironment(environment)
// If the store ends, nobody needs the result.
process.stdin.on('readable', () => process.stdin.read()).once('end', () => process.exit(1))
answer(await doneFor(job))
process.exit(0)

function answer(result: JobResult): void {
  try {
    for (const piece of messageOf(result)) {
      for (let at = 0; at < piece.length; ) at += writeSync(resultDescriptor, piece, at)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    // The store has ended meanwhile.
    process.exit(1)
  }
}

async function doneFor(asked: CatalogJob): Promise<JobResult> {
  try {
    return { done: await workOn(asked) }
  } catch (error) {
    return { error }
  }
}

function workOn(asked: CatalogJob): Promise<ReadList> | Joined | PackedCatalog {
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
  // The store stops the load by ending this process, so no signal is needed.
  const listing = await reader.list(new AbortController().signal)
  return { ...listing, note: reader.note() }
}

function build({ offers, basis, siteUrl }: CatalogJob & { readonly type: 'build' }): PackedCatalog {
  return packCatalog(offersIn(offers), basis, publishing({ siteUrl, pricing: pricingOn(basis) }))
}
