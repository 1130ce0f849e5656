import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The number of connections of the load, and the core that it runs on. */
const connections = 32
const loadCore = 1

export interface Load {
  readonly requests: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly p99: number
}

export interface LoadMaker {
  /** Requests all targets in turn for this many seconds. @throws at an error, or a status other than 2xx and 3xx */
  load(port: number, seconds: number): Promise<Load>
  remove(): Promise<void>
}

/** What this machine lacks to put load on a server, as a sentence; undefined if nothing. */
export async function missingForLoad(): Promise<string | undefined> {
  const isThere = (command: string) =>
    run('which', [command]).then(
      () => true,
      () => false,
    )
  if (!(await isThere('taskset'))) return 'taskset is missing; it is part of util-linux on Linux'
  if (!(await isThere('wrk'))) return 'wrk is missing; install it with: apt-get install wrk'
  return undefined
}

export async function createLoadMaker(targets: readonly string[]): Promise<LoadMaker> {
  const folder = await mkdtemp(join(tmpdir(), 'kiosk402-wrk-'))
  const script = join(folder, 'targets.lua')
  await writeFile(script, scriptFor(targets))
  return {
    async load(port, seconds) {
      const wrk = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', script]
      const args = ['-c', String(loadCore), ...wrk, `http://127.0.0.1:${port}`]
      const { stdout } = await run('taskset', args)
      const { requests, failed, micros, p99 } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
      if (failed > 0) throw new Error(`${failed} of ${requests} requests failed:\n${stdout}`)
      return { requests, perSecond: (requests / micros) * 1_000_000, p99: p99 / 1_000 }
    },
    remove: () => rm(folder, { recursive: true }),
  }
}

/** Formats all requests before the first is sent, so that the load itself costs little CPU. */
function scriptFor(targets: readonly string[]): string {
  return `
local targets = {${targets.map((target) => JSON.stringify(target)).join(',')}}
local requests = {}
local at = 0

init = function()
  for i, target in ipairs(targets) do requests[i] = wrk.format('GET', target) end
end

request = function()
  at = at % #requests + 1
  return requests[at]
end

done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('\\n{"requests":%d,"failed":%d,"micros":%d,"p99":%d}\\n',
    summary.requests, failed, summary.duration, latency:percentile(99)))
end
`
}
