import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createNumbers } from './numbers.ts'

/** A process that counts, and how its numbers travel. */
function counting() {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({ name: 'requests', help: 'h', labelNames: ['status'], registers })
  const memory = new Gauge({ name: 'memory', help: 'h', registers })
  const seconds = new Histogram({ name: 'seconds', help: 'h', buckets: [1], registers })
  const sent = async () => JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()))
  return { requests, memory, seconds, sent }
}

test('what the workers counted and measured is added up', async () => {
  const [one, other] = [counting(), counting()]
  one.requests.inc({ status: '200' }, 5)
  one.memory.set(100)
  one.seconds.observe(0.5)
  other.requests.inc({ status: '200' }, 7)
  other.requests.inc({ status: '429' }, 1)
  other.memory.set(50)
  other.seconds.observe(2)
  const numbers = createNumbers()
  numbers.seen(1, await one.sent())
  numbers.seen(2, await other.sent())
  const text = await numbers.text()
  for (const line of [
    'requests{status="200"} 12',
    'requests{status="429"} 1',
    'memory 150',
    'seconds_bucket{le="1"} 1',
    'seconds_bucket{le="+Inf"} 2',
    'seconds_count 2',
    'seconds_sum 2.5',
  ]) {
    expect(text.split('\n')).toContain(line)
  }
})

test('a worker that ends takes its memory with it, and nothing that it counted', async () => {
  const numbers = createNumbers()
  for (const id of [1, 2, 3]) {
    const worker = counting()
    worker.requests.inc({ status: '200' }, 5)
    worker.memory.set(100)
    worker.seconds.observe(0.5)
    numbers.seen(id, await worker.sent())
    // The third one lives.
    if (id < 3) await numbers.gone(id)
  }
  const lines = (await numbers.text()).split('\n')
  expect(lines).toContain('requests{status="200"} 15')
  expect(lines).toContain('seconds_count 3')
  expect(lines).toContain('memory 100')
})

test('a worker of which nothing was seen changes nothing', async () => {
  const numbers = createNumbers()
  await numbers.gone(1)
  expect((await numbers.text()).trim()).toBe('')
})
