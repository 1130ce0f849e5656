import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accentSheet, accentsOf, contrastOf, mixed } from './assets.ts'

const sheet = readFileSync(new URL('style.css', import.meta.url), 'utf8')

test('contrast is that of WCAG', () => {
  expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  expect(mixed('#000000', '#ffffff', 0.5)).toBe('#808080')
})

test('any colour can be read in both themes, on the paper and on cards, and text upon it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffff }), (number) => {
      const color = `#${number.toString(16).padStart(6, '0')}`
      const { light, dark } = accentsOf(color)
      for (const ground of ['#f3f5f1', '#ffffff']) {
        expect(contrastOf(light.color, ground)).toBeGreaterThanOrEqual(4.5)
      }
      for (const ground of ['#0e1411', '#171f1b']) {
        expect(contrastOf(dark.color, ground)).toBeGreaterThanOrEqual(4.5)
      }
      for (const { color: accent, on } of [light, dark]) {
        expect(contrastOf(accent, on)).toBeGreaterThanOrEqual(4.5)
      }
    }),
  )
})

test('the colours it is measured against are those of the sheet', () => {
  for (const ground of [
    '--paper: #f3f5f1',
    '--card: #fff;',
    '--paper: #0e1411',
    '--card: #171f1b',
  ]) {
    expect(sheet).toContain(ground)
  }
})

test('a colour that can be read stays as it is in the light theme', () => {
  expect(accentsOf('#5a2ca0').light).toEqual({ color: '#5a2ca0', on: '#ffffff' })
  expect(accentSheet('#5a2ca0')).toContain('--accent: #5a2ca0; --on-accent: #ffffff;')
})
