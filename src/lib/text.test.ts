import { expect, test } from 'vitest'
import { fold, foldedWords, slugOf } from './text.ts'

test.each([
  ['Café', 'cafe'],
  ['MÜNCHEN', 'munchen'],
  ['Ａmazon', 'amazon'],
  ['Đồng', 'dong'],
  ['Straße', 'strasse'],
  ['SŁUPSK', 'slupsk'],
  ['Œuvre', 'oeuvre'],
  ['Ørsted Æbler', 'orsted aebler'],
  ['Þór Ðað', 'thor dad'],
  ['शिकागो', 'शिकागो'],
])('folds %s to %s', (text, folded) => {
  expect(fold(text)).toBe(folded)
})

test('splits text into runs of letters and digits', () => {
  expect(foldedWords("McDonald's 7-Eleven, été!")).toEqual(['mcdonald', 's', '7', 'eleven', 'ete'])
  expect(foldedWords('ताज होटल')).toEqual(['ताज', 'होटल'])
  expect(foldedWords(' - ि ')).toEqual([])
})

test.each([
  ['South Asia', 'south-asia'],
  ['Middle East and North Africa', 'middle-east-and-north-africa'],
  ["Côte d'Ivoire", 'cote-d-ivoire'],
])('%s has the slug %s', (name, slug) => {
  expect(slugOf(name)).toBe(slug)
})
