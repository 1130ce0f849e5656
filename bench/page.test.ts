import { expect, test } from 'vitest'
import { figure, lead } from './figures.ts'
import { pageOf } from './page.ts'

test('a section is a table whose columns stand under each other, and its notes', () => {
  const one = { ...lead('One engine', 25, 20), details: { p99: '1.00 ms' }, last: '30.0 times' }
  const ours = { ...figure('Ours', 12, 'µs'), note: 'With facets.' }
  const plain = { title: 'Start', figures: [figure('Ready', 5, 's', 4)] }
  const text = pageOf('A machine.', [plain, { title: 'Beside others', figures: [ours, one] }])
  expect(text).toBe(`# Benchmarks

Written by \`npm run bench\`. A machine.

## Start

| What  | Measured | Bar       | Held |
|-------|----------|-----------|------|
| Ready | 5.00 s   | under 4 s | NO   |

## Beside others

| What       | p99     | Measured   | Bar               | Held | Last time  |
|------------|---------|------------|-------------------|------|------------|
| Ours       |         | 12.0 µs    |                   |      |            |
| One engine | 1.00 ms | 25.0 times | at least 20 times | yes  | 30.0 times |

- **Ours.** With facets.
`)
})
