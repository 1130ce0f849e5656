import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createClusterMetrics } from './metrics.ts'

/** The metrics of one process, and their serialized form. */
function workerMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({ name: 'requests', help: 'h', labelNames: ['status'], registers })
  const memory = new Gauge({ name: 'memory', help: 'h', registers })
  const seconds = new Histogram({ name: 'seconds', help: 'h', buckets: [1], registers })
  const values = async () => JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()))
  return { requests, memory, seconds, values }
}

test('sums counters, gauges and histograms of all workers', async () => {
  const [one, other] = [workerMetrics(), workerMetrics()]
  one.requests.inc({ status: '200' }, 5)
  one.memory.set(100)
  one.seconds.observe(0.5)
  other.requests.inc({ status: '200' }, 7)
  other.requests.inc({ status: '429' }, 1)
  other.memory.set(50)
  other.seconds.observe(2)
  const metrics = createClusterMetrics()
  metrics.update(1, await one.values())
  metrics.update(2, await other.values())
  const text = await metrics.text()
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

test('drops the gauges of an exited worker and keeps its counters', async () => {
  const metrics = createClusterMetrics()
  for (const id of [1, 2, 3]) {
    const worker = workerMetrics()
    worker.requests.inc({ status: '200' }, 5)
    worker.memory.set(100)
    worker.seconds.observe(0.5)
    metrics.update(id, await worker.values())
    // The third worker keeps running.
    if (id < 3) await metrics.remove(id)
  }
  const lines = (await metrics.text()).split('\n')
  expect(lines).toContain('requests{status="200"} 15')
  expect(lines).toContain('seconds_count 3')
  expect(lines).toContain('memory 100')
})

test('ignores the exit of a worker that reported nothing', async () => {
  const metrics = createClusterMetrics()
  await metrics.remove(1)
  expect((await metrics.text()).trim()).toBe('')
})
