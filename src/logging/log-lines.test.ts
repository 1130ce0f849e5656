import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { lossy, type Sink } from './log-lines.ts'

/** A sink that takes lines, takes only the beginning of each, or keeps them waiting. */
function openSink() {
  const state = { isBroken: false, writableLength: 0, written: '' }
  const sink: Sink = {
    get writableLength() {
      return state.writableLength
    },
    write(text, done) {
      state.written += state.isBroken ? text.slice(0, 1) : text
      done(state.isBroken ? new Error('ENOSPC') : null)
    },
  }
  return { sink, state, lines: () => state.written.split('\n').filter(Boolean) }
}

describe('a log that loses lines', () => {
  test('writes them as they come while all is well', () => {
    const { sink, lines } = openSink()
    const log = lossy(sink)
    log.write('a\n')
    log.write('b\n')
    expect(lines()).toEqual(['a', 'b'])
  })

  test.each(['a full disk', 'a stalled reader'])('says how many after %s', (trouble) => {
    const { sink, state, lines } = openSink()
    const log = lossy(sink)
    const isFull = trouble === 'a full disk'
    if (isFull) state.isBroken = true
    else state.writableLength = 2 ** 30
    for (const line of ['aa\n', 'bb\n', 'cc\n']) log.write(line)
    state.isBroken = false
    state.writableLength = 0
    log.write('d\n')
    log.write('e\n')
    const [told = '', ...others] = isFull ? lines().slice(1) : lines()
    expect(JSON.parse(told)).toMatchObject({ level: 40, lost: 3 })
    expect(others).toEqual(['d', 'e'])
  })
})

describe('a process whose log goes nowhere', () => {
  const program = `
    import { createLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)}
    import { standard } from ${JSON.stringify(new URL('./log-lines.ts', import.meta.url).href)}
    const log = createLog('info', standard(process.stdout))
    for (let line = 0; line < 40_000; line += 1) log.info({ text: 'x'.repeat(1_000) }, 'a line')
    setImmediate(() => process.stderr.write('goes on', () => process.exit(0)))`
  const ended: (() => void)[] = []
  afterEach(() => {
    for (const end of ended.splice(0)) end()
  })

  test.each([
    ['into a full disk', () => openSync('/dev/full', 'w')],
    ['into a pipe that nobody reads', () => 'pipe' as const],
  ])('goes on when it writes %s, and ends', async (_, stdout) => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', stdout(), 'pipe'],
    })
    ended.push(() => child.kill('SIGKILL'))
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(said).toBe('goes on')
  })
})

test('a process that ends at once has said all it had to say', async () => {
  const program = `
    import { standard } from ${JSON.stringify(new URL('./log-lines.ts', import.meta.url).href)}
    const log = standard(process.stdout)
    for (const line of ['a', 'b', 'c']) log.write(line + '\\n')
    process.exit(0)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  expect(await text(child.stdout)).toBe('a\nb\nc\n')
})
