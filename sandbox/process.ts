import { execFileSync, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Identifies a process so that it cannot be confused with a later one with the same pid: `birth` is its start time by
 * the system, in the system's own notation.
 */
export type ProcessId = { pid: number; birth: string }

export type LaunchOptions = {
  command: string
  args: readonly string[]
  /** The file for all output of the child; each launch truncates it. */
  logFile: string
  /** The whole environment of the child, which never inherits ours. Absent: `plainEnvironment`. */
  env?: NodeJS.ProcessEnv
  cwd?: string
  /** The account to run as; only root may name one. */
  account?: { uid: number; gid: number }
  /** False leaves the child in the terminal's process group, so that Ctrl-C reaches it too. */
  detached?: boolean
}

/** The variables that every program gets: the path of programs, and Node's compile cache. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) }
}

/**
 * Starts a process that outlives this one and that the terminal's Ctrl-C does not reach. Its output goes to a file,
 * because a pipe would break when this process ends. Rejects if the command cannot be run at all (missing, not
 * executable).
 */
export async function launch(options: LaunchOptions): Promise<ProcessId> {
  const log = openSync(options.logFile, 'w', 0o600)
  try {
    const child = spawn(options.command, options.args, {
      detached: options.detached ?? true,
      stdio: ['ignore', log, log],
      env: options.env ?? plainEnvironment(),
      ...(options.cwd ? { cwd: options.cwd } : {}),
      ...(options.account ?? {}),
    })
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('spawn', () => resolve(child.pid ?? 0))
    })
    child.unref()
    return { pid, birth: birthOf(pid) ?? 'ended' }
  } finally {
    closeSync(log)
  }
}

/** The process that has this pid now; undefined if there is none or only a zombie. */
export function identify(pid: number): ProcessId | undefined {
  const birth = birthOf(pid)
  return birth === undefined ? undefined : { pid, birth }
}

/** Whether exactly this process still runs. A zombie, or another process with its pid, does not count. */
export function isAlive(id: ProcessId): boolean {
  return birthOf(id.pid) === id.birth
}

/**
 * The program name of a running process; undefined if the system does not tell. It is used to detect a pid that now
 * belongs to another program.
 */
export function programOf(pid: number): string | undefined {
  return readIfThere(`/proc/${pid}/comm`)?.trim()
}

/**
 * Sends the signals in order, and gives the process a time to end, in milliseconds, after each. Returns at once for a
 * process that has ended; throws if it survives all of them.
 */
export async function terminate(
  id: ProcessId,
  steps: readonly (readonly [signal: NodeJS.Signals, waitMs: number])[],
): Promise<void> {
  for (const [signal, waitMs] of steps) {
    if (!signalIfAlive(id, signal)) return
    if (await waitUntil(() => !isAlive(id), waitMs)) return
  }
  const tried = steps.map(([signal]) => signal).join(', ')
  throw new Error(`Process ${id.pid} did not end after ${tried}.`)
}

/** Polls until the answer is yes; false if it is not within `timeoutMs`. */
export async function waitUntil(
  check: () => boolean | Promise<boolean>,
  timeoutMs: number,
  everyMs = 10,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (!(await check())) {
    if (performance.now() >= deadline) return false
    await delay(everyMs)
  }
  return true
}

/** The end of a log, for an error message; says so if the log is empty. */
export function logTail(logFile: string): string {
  const lines = (readIfThere(logFile) ?? '').trim().split('\n').slice(-8)
  return lines.join('\n').slice(-2000) || '(it wrote nothing)'
}

function signalIfAlive(id: ProcessId, signal: NodeJS.Signals): boolean {
  if (!isAlive(id)) return false
  try {
    return process.kill(id.pid, signal)
  } catch (error) {
    if (isAlive(id)) throw error
    return false
  }
}

function birthOf(pid: number): string | undefined {
  return existsSync('/proc/self/stat') ? birthFromProc(pid) : birthFromPs(pid)
}

/**
 * By proc(5), the state is field 3 and the start time field 22, after a name in parentheses. A process with many
 * threads is a zombie while its last threads end, and keeps its ports and files until then.
 */
function birthFromProc(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ended = fields[0] === 'X' || (fields[0] === 'Z' && threadsOf(pid) <= 1)
  return ended ? undefined : `${bootId()}/${fields[19]}`
}

function threadsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length
  } catch (error) {
    if (isAbsence(error)) return 0
    throw error
  }
}

/** Start times are relative to the boot of the machine, so a birth contains the id of the boot as well. */
function bootId(): string {
  return readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
}

function birthFromPs(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
    const [state = 'Z', ...started] = line.split(/\s+/)
    return state.startsWith('Z') ? undefined : started.join(' ')
  } catch {
    // `ps` exits with 1 if there is no such process, which is an answer and not a failure.
    return undefined
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** Whether an error means that there is no such process. Reading one that just ends fails with ESRCH, not ENOENT. */
function isAbsence(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOENT' || code === 'ESRCH'
}
