import { createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Archive, ArchiveFile, OpenArchive } from '../adapters/storage/archive.ts'
import { digestOf, linesOf, rowIn } from './archive-files.ts'

export interface ArchiveWork {
  readonly archive: Archive
  /** The folder of the files; if it is missing, it is created for its owner alone. */
  readonly dir: string
  readonly endedBefore: Date
  readonly tell: (line: string) => void
}

/** How many orders or checkouts one transaction moves. */
const movedAtOnce = 200

/**
 * Writes what ended before `endedBefore` to one file a month for orders and one for checkouts that became
 * none, and moves it out of the tables only when its file is on disk. It first finishes what an earlier run
 * left, so it may be stopped at any point and run again.
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
  /** Removes a file that was not closed, so that it does not keep a full disk full. */
  discard(): Promise<void>
}

/** The goods in the file are sealed, as in the table; even so, only its owner can read it. */
function openMonth(dir: string, name: string): MonthFile {
  const unnamed = join(dir, `${name}.${process.pid}.part`)
  const gzip = createGzip()
  const written = pipeline(gzip, createWriteStream(unnamed, { mode: 0o600 }))
  // `write` and `close` report the error.
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

/** Waits until a file or a folder is on disk: what is not may not leave the tables. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Moves what is in a file, after its digest was checked. */
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
