import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const stories = ['adversarial-payers', 'adversarial-wallets', 'adversarial-token']
const earlier = ['payment-failed', 'refused-payments', 'public-signature']
const sourceOf = (name: string) => readFileSync(`test/stories/${name}.test.ts`, 'utf8')

test('docs/contributors/adversarial-payers.md names every adversarial story, and only stories that exist', () => {
  const table = readFileSync('docs/contributors/adversarial-payers.md', 'utf8')
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.includes('| test |'))
  const named = rows.flatMap((row) => {
    const names = [...(row.split(' | ').at(-1) ?? '').matchAll(/`([^`]+)`/g)]
    return names.map(([, name = '']) => name).filter((name) => !name.endsWith('.test.ts'))
  })
  const sources = [...stories, ...earlier].map(sourceOf).join('\n')
  const written = stories.flatMap((story) =>
    [
      ...sourceOf(story).matchAll(/^(?:test|\]\))?(?:\.each\([^\n]*)?\((?:\n {2})?'([^'\n]+)'/gm),
    ].map(([, name = '']) => name),
  )
  expect(rows.length).toBeGreaterThan(25)
  expect(written.length).toBeGreaterThan(25)
  for (const name of named) expect(sources, name).toContain(`'${name}'`)
  for (const name of written) expect(named).toContain(name)
})
