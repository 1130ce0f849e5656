import { join } from 'node:path'
import { readFileIfThere } from '../private-file.ts'
import type { ProcessId } from '../process.ts'
import { identify, programOf } from '../process.ts'

/** The content of `postmaster.pid` about the server that runs, or ran, on a cluster. */
export type Postmaster = { pid: number; port: number | undefined; ready: boolean }

/**
 * Reads the cluster's lock file: line 1 is the pid, 4 the port, 8 the state ("ready", "starting", "stopping", padded).
 * The later lines appear while the server starts. We only read the file: PostgreSQL itself decides when to replace a
 * stale one.
 */
export async function readPostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const text = await readFileIfThere(join(clusterDir, 'postmaster.pid'))
  const lines = text?.split('\n') ?? []
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  return { pid, port: Number(lines[3]) || undefined, ready: lines[7]?.trim() === 'ready' }
}

/** The running process of a lock file; undefined if it has ended or the pid now belongs to another program. */
export function runningPostmaster(postmaster: Postmaster): ProcessId | undefined {
  return isSomethingElse(postmaster.pid) ? undefined : identify(postmaster.pid)
}

/**
 * Whether the pid of a lock file now belongs to another program. That happens in containers, where the same few pids
 * are reused after each restart. PostgreSQL would take that program for a running server and refuse to start.
 */
export function isSomethingElse(pid: number): boolean {
  const program = programOf(pid)
  return program !== undefined && !program.startsWith('postgres')
}
