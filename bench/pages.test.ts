import { expect, test } from 'vitest'
import type { Visit } from './page-visit.ts'
import { figureOf } from './pages.ts'

const good: Visit = { kB: 62.34, requests: 5, ttfb: 12.3, lcp: 640.4, cls: 0, inp: 24 }

test('a page is told by the medians of its visits', () => {
  const odd = { ...good, kB: 900, lcp: 9_000, inp: 900 }
  expect(figureOf('Home', [odd, good, good])).toEqual({
    what: 'Home',
    value: '62.3 kB',
    details: { Requests: '5', TTFB: '12.3 ms', LCP: '640 ms', CLS: '0.000', INP: '24.0 ms' },
    bar: '100 kB, LCP 2500 ms, CLS 0.1, INP 200 ms',
    held: true,
  })
})

test.each<[string, Partial<Visit>]>([
  ['is heavier than 100 kB', { kB: 100.1 }],
  ['paints its largest part after 2.5 s', { lcp: 2_501 }],
  ['moves what stands already', { cls: 0.11 }],
  ['answers a press after 200 ms', { inp: 201 }],
])('a page that %s does not hold the bar', (_, worse) => {
  expect(figureOf('Home', [{ ...good, ...worse }]).held).toBe(false)
})
