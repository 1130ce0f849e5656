import { createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Archive, ArchiveFile, OpenArchive } from '../adapters/storage/archive.ts'
import { digestOf, linesOf, rowIn } from './archive-files.ts'

export interface ArchiveWork {
  readonly archive: Archive
  /** Where the files are; made for its owner alone where it is not there. */
  readonly dir: string
  readonly endedBefore: Date
  readonly tell: (line: string) => void
}

/** Lines whose orders or checkouts one transaction moves. */
const movedAtOnce = 200

/**
 * Writes what ended before then to one file a month for orders and one for checkouts that became none, and moves
 * it out of the tables only when its file is on disk. What an earlier run left goes on first, so it may be broken
 * off at any point and run again.
 *
 * @returns how many orders and checkouts moved
 * @throws when a file is missing or is not what was written
 */
export async function archiveOrders(work: ArchiveWork): Promise<number> {
  await mkdir(work.dir, { recursive: true, mode: 0o700 })
  let moved = 0
  for (const left of await work.archive.unfinished()) moved += await moveFile(work, left)
  for (const file of await writeFiles(work)) {
    moved += await moveFile(work, await work.archive.begin(file))
  }
  return moved
}

async function writeFiles(work: ArchiveWork): Promise<ArchiveFile[]> {
  const months = new Map<string, MonthFile>()
  try {
    return await writeMonths(work, months)
  } finally {
    for (const month of months.values()) await month.discard()
  }
}

async function writeMonths(
  { archive, dir, endedBefore }: ArchiveWork,
  months: Map<string, MonthFile>,
): Promise<ArchiveFile[]> {
  for await (const lines of archive.lines(endedBefore)) {
    for (const { kind, month, text } of lines) {
      const name = `${kind}-${month}`
      const file = months.get(name) ?? openMonth(dir, name)
      months.set(name, file)
      await file.write(text)
    }
  }
  const files: ArchiveFile[] = []
  for (const name of [...months.keys()].sort()) {
    const written = await months.get(name)?.close()
    if (written) files.push(written)
  }
  return files
}

interface MonthFile {
  write(line: string): Promise<void>
  close(): Promise<ArchiveFile>
  /** Removes what was not closed: a disk that is full stays so with it. */
  discard(): Promise<void>
}

/** The goods in it are sealed as they were in the table; still, it is its owner's alone. */
function openMonth(dir: string, name: string): MonthFile {
  const unnamed = join(dir, `${name}.${process.pid}.part`)
  const gzip = createGzip()
  const written = pipeline(gzip, createWriteStream(unnamed, { mode: 0o600 }))
  // Heard of when the file is closed.
  written.catch(() => undefined)
  let orders = 0
  return {
    async write(line) {
      orders += 1
      if (gzip.write(`${line}\n`)) return
      await Promise.race([new Promise((resolve) => gzip.once('drain', resolve)), written])
    },
    async close() {
      gzip.end()
      await written
      await sync(unnamed)
      const sha256 = await digestOf(unnamed)
      const file = `${name}-${sha256.slice(0, 16)}.jsonl.gz`
      await rename(unnamed, join(dir, file))
      await sync(dir)
      return { file, sha256, orders }
    },
    async discard() {
      gzip.destroy()
      await written.catch(() => undefined)
      await rm(unnamed, { force: true })
    },
  }
}

/** What is not on disk is not archived. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Moves what is in a file, which is read once more first, and whole. */
async function moveFile({ archive, dir, tell }: ArchiveWork, file: OpenArchive): Promise<number> {
  let moved = 0
  let batch: { id: string; version: number }[] = []
  const moveBatch = async () => {
    moved += await archive.move(file, batch)
    batch = []
  }
  for await (const line of await linesOf(dir, file)) {
    batch.push(rowIn(JSON.parse(line)))
    if (batch.length >= movedAtOnce) await moveBatch()
  }
  await moveBatch()
  await archive.finish(file)
  tell(`${file.file}  ${moved} of ${file.orders} moved  sha256 ${file.sha256}`)
  return moved
}
