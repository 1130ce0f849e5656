import { expect, test } from 'vitest'
import { startEngine, TooLate } from './runner.ts'

const settings = { name: 'Ours', offers: 100, queries: 14, firstPassMs: 10_000, databaseUrl: '' }

test('an engine answers in a process of its own, as often as it is asked', async () => {
  const engine = await startEngine(settings)
  try {
    const { micros, totals, outsideMb } = engine.report
    expect([micros.length, totals.length, outsideMb]).toEqual([14, 14, undefined])
    expect(await engine.ask(7)).toHaveLength(7)
    expect(await engine.ask(14)).toHaveLength(14)
  } finally {
    await engine.stop()
  }
})

test('one that has ended is asked in vain', async () => {
  const engine = await startEngine(settings)
  await engine.stop()
  await expect(engine.ask(7)).rejects.toThrow('Channel closed')
})

test('one that fails is not waited for', async () => {
  await expect(startEngine({ ...settings, name: 'Nobody' })).rejects.toThrow(
    'The engine ended before it had answered',
  )
})

test('one that takes too long is ended', async () => {
  await expect(startEngine(settings, 1)).rejects.toBeInstanceOf(TooLate)
})
