import { execFileSync, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * A process named so that it cannot be confused with a later one that was given the same pid:
 * `birth` is when the system says it began, in the system's own notation.
 */
export type ProcessId = { pid: number; birth: string }

export type LaunchOptions = {
  command: string
  args: readonly string[]
  /** Everything the child writes goes to this file, which each launch begins anew. */
  logFile: string
  /** All that the child sees of an environment; `plainEnvironment` when left out. It never inherits ours. */
  env?: NodeJS.ProcessEnv
  cwd?: string
  /** The account to run as; only root may name one. */
  account?: { uid: number; gid: number }
  /** False keeps the child in the terminal's process group, so that Ctrl-C reaches it too. */
  detached?: boolean
}

/** What every program may know: where programs are, and where Node keeps the code that it compiled. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) }
}

/**
 * Starts a process that outlives this one and that the terminal's Ctrl-C does not reach.
 * Its output goes to a file and not to a pipe, because a pipe would break with this process.
 * Rejects when the command cannot be run at all (missing, not executable).
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

/** The process that has this pid now, or undefined when there is none or only a zombie. */
export function identify(pid: number): ProcessId | undefined {
  const birth = birthOf(pid)
  return birth === undefined ? undefined : { pid, birth }
}

/** Whether this very process still runs; a zombie and a successor under its pid do not count. */
export function isAlive(id: ProcessId): boolean {
  return birthOf(id.pid) === id.birth
}

/**
 * The name of a running process's program, or undefined where the system does not tell. Serves to
 * recognise a pid that now belongs to something else.
 */
export function programOf(pid: number): string | undefined {
  return readIfThere(`/proc/${pid}/comm`)?.trim()
}

/**
 * Sends each signal in turn and gives the process its time to end, in milliseconds, before the
 * next one. Returns at once for a process that has ended; throws when it survives them all.
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

/** Asks again and again until the answer is yes; false when `timeoutMs` passed without one. */
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

/** The end of a log, for the message of an error; says so when there is nothing in it. */
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
 * See proc(5): the state is field 3 and the start time field 22, after a name in parentheses. A process of
 * many threads is a zombie while its last ones end, and keeps its ports and files for as long.
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

/** Start times count from the boot of the machine, so a birth names the boot as well. */
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
    // The tool exits with 1 when there is no such process; that is the answer, not a failure.
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

/** A process that ends while it is read answers ESRCH instead of ENOENT. */
function isAbsence(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOENT' || code === 'ESRCH'
}
