import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { readFileIfThere, writePrivateFile } from './private-file.ts'

/**
 * Identifies a process so that it cannot be confused with a later one with the same pid: `birth` is its start time by
 * the system, in the system's own notation.
 */
export type ProcessId = { pid: number; birth: string }

export const processId = z.object({ pid: z.int(), birth: z.string() })

export interface LaunchOptions {
  readonly command: string
  readonly args: readonly string[]
  /** The file for all output of the program; each launch truncates it. */
  readonly logFile: string
  readonly processFile: string
  /** The whole environment of the program, which never inherits ours. Absent: `plainEnvironment`. */
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** The signal that asks it to end. Default: TERM. */
  readonly signal?: 'TERM' | 'INT'
  /** The seconds after which it is killed if it does not end. Default: 5. */
  readonly patience?: number
  readonly removes?: string | undefined
  /** A file that it has written when it ends well, and the name that this file gets then. */
  readonly leaves?: readonly [from: string, to: string]
}

export interface Launched {
  readonly pid: number
  readonly hasEnded: () => boolean
  /** Ends it if it still runs, and waits until it and its guard have ended. */
  stop(): Promise<void>
}

/**
 * Runs the program beside a pipe from us that carries nothing. When the pipe closes, the program is asked to end: when
 * we stop it, and also when we are killed, because then the system closes the pipe. So no program outlives us, however
 * we end. The guard leads a session of its own, which no Ctrl-C of our terminal reaches.
 */
const guard = `
exec 4<&0 0</dev/null
signal=$1 patience=$2 removes=$3 from=$4 to=$5; shift 5
trap : HUP INT TERM
"$@" 3>&- 4<&- & program=$!
echo $program >&3; exec 3>&-
{ read -r _ <&4; kill -s "$signal" $program
  while [ $patience -gt 0 ]; do sleep 1; patience=$((patience - 1)); done
  kill -s KILL $program; } 2>/dev/null & watch=$!
while wait $program; code=$?; [ $code -gt 128 ] && kill -0 $program 2>/dev/null; do :; done
kill -s KILL $watch 2>/dev/null
[ $code != 0 ] || [ -z "$from" ] || mv -f "$from" "$to"
[ -z "$removes" ] || rm -rf "$removes"
exit $code`

export async function launch(options: LaunchOptions): Promise<Launched> {
  const { signal = 'TERM', patience = 5, removes = '', leaves = ['', ''] } = options
  const log = openSync(options.logFile, 'w', 0o600)
  const how = [signal, String(patience), removes, ...leaves]
  const child = spawn('/bin/sh', ['-c', guard, 'guard', ...how, options.command, ...options.args], {
    detached: true,
    stdio: ['pipe', log, log, 'pipe'],
    env: options.env ?? plainEnvironment(),
    ...(options.cwd ? { cwd: options.cwd } : {}),
  })
  closeSync(log)
  const ended = once(child, 'exit')
  const pid = Number(await text(child.stdio[3] as Socket))
  const pipe = child.stdin as Socket
  const earlier = { process: { pid }, guard: identify(child.pid ?? 0) }
  await writePrivateFile(options.processFile, JSON.stringify(earlier))
  child.unref()
  pipe.unref()
  return {
    pid,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      child.ref()
      pipe.end()
      await ended
    },
  }
}

const record = z.object({ guard: processId.optional() })

/**
 * Waits for the end of a program that an earlier process launched: the guard of a killed store takes a moment to end
 * its program and to save what it leaves.
 */
export async function untilEarlierEnded(processFile: string): Promise<void> {
  const content = await readFileIfThere(processFile)
  const earlier = content === undefined ? undefined : record.parse(JSON.parse(content)).guard
  if (!earlier || (await waitUntil(() => !isAlive(earlier), 60_000))) return
  throw new Error(`Process ${earlier.pid}, which ${processFile} names, does not end.`)
}

const require = createRequire(import.meta.url)

/** The file of an installed package. Unlike `import.meta.resolve`, this also works in test runners. */
export function resolvePackage(specifier: string): URL {
  return pathToFileURL(require.resolve(specifier))
}

/** The variables that every program gets: the path of programs, and Node's compile cache. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) }
}

/** The process that has this pid now; undefined if there is none or only a zombie. */
export function identify(pid: number): ProcessId | undefined {
  const birth = existsSync('/proc/self/stat') ? birthFromProc(pid) : birthFromPs(pid)
  return birth === undefined ? undefined : { pid, birth }
}

/** Whether exactly this process still runs. A zombie, or another process with its pid, does not count. */
export function isAlive(id: ProcessId): boolean {
  return identify(id.pid)?.birth === id.birth
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
  const lines = readFileSync(logFile, 'utf8').trim().split('\n').slice(-8)
  return lines.join('\n').slice(-2000) || '(it wrote nothing)'
}

/**
 * By proc(5), the state is field 3 and the start time, relative to the boot of the machine, field 22, after a name in
 * parentheses.
 */
function birthFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return /[XZ]/.test(fields[0] ?? 'X') ? undefined : `${boot}/${fields[19]}`
  } catch (error) {
    // Reading a process that just ends fails with ESRCH.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}

function birthFromPs(pid: number): string | undefined {
  try {
    const [state = 'Z', ...started] = execFileSync(
      'ps',
      ['-o', 'state=,lstart=', '-p', String(pid)],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    )
      .trim()
      .split(/\s+/)
    return state.startsWith('Z') ? undefined : started.join(' ')
  } catch {
    // `ps` exits with 1 if there is no such process, which is an answer and not a failure.
    return undefined
  }
}
