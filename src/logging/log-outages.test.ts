import { beforeEach, expect, test, vi } from 'vitest'
import { isOutage, openDatabase } from '../adapters/storage/database.ts'
import { createLog } from './log.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})

test('an outage is one line at its start and one at its end, however often it is met', () => {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => lines.push(JSON.parse(line))
  const log = createLog('info', { write })
  const failed = (what: string, error: Error) =>
    log.error({ error, what }, 'background work failed')
  for (let tried = 0; tried < 92; tried += 1) {
    failed('sweep', new Error('gone'))
    if (tried < 2) failed('nodes', new Error('gone'))
    vi.advanceTimersByTime(250)
  }
  const told = () => lines.map(({ level, what, msg, failures }) => [level, what, msg, failures])
  const begun = [
    [50, 'sweep', 'background work failed', undefined],
    [50, 'nodes', 'background work failed', undefined],
  ]
  expect(told()).toEqual(begun)
  vi.advanceTimersByTime(30_000)
  expect(told().slice(2).sort()).toEqual([
    [40, 'nodes', 'works again', 2],
    [40, 'sweep', 'works again', 92],
  ])
  expect(lines.find(({ failures }) => failures === 92)).toMatchObject({ seconds: 23 })
  failed('sweep', new Error('gone again'))
  expect(told().slice(4)).toEqual([begun[0]])
})

test('work that is tried once a minute is not said to work again while it fails', () => {
  const messages: string[] = []
  const write = (line: string) => messages.push(JSON.parse(line).msg)
  const log = createLog('info', { write })
  for (let tried = 0; tried < 3; tried += 1) {
    log.error({ error: new Error('gone'), what: 'forget' }, 'background work failed')
    vi.advanceTimersByTime(60_000)
  }
  expect(messages).toEqual(Array(3).fill('background work failed'))
})

test('what a database that is away has broken is one outage, whatever lines tell of it', async () => {
  const gone = openDatabase('postgres://nobody@127.0.0.1:1/none', {
    applicationName: 'test',
    poolSize: 1,
    onError: () => undefined,
  })
  const errors = [
    await gone.query('select 1').catch((error: unknown) => error),
    await gone.connect().catch((error: unknown) => error),
    new Error('Connection terminated unexpectedly'),
  ]
  await gone.end()
  const elsewhere = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => lines.push(JSON.parse(line))
  const log = createLog('info', { write }, isOutage)
  const request = log.child({ reqId: '1' })
  for (const err of errors) request.error({ err }, 'orders not readable')
  log.error({ error: errors[0], what: 'sweep' }, 'background work failed')
  log.error({ error: elsewhere }, 'mail not sent')
  log.error({ err: elsewhere }, 'mail not sent')
  vi.advanceTimersByTime(30_000)
  expect(lines.map(({ msg, what, failures, reqId }) => [msg, what, failures, reqId])).toEqual([
    ['orders not readable', undefined, undefined, '1'],
    ['mail not sent', undefined, undefined, undefined],
    ['mail not sent', undefined, undefined, undefined],
    ['works again', 'database', 4, undefined],
  ])
})
