import { expect, test } from 'vitest'
import { figure, lead, ratio, reach } from './figures.ts'
import { pageOf } from './page.ts'
import { compareWith, summaryOf } from './regressions.ts'

/** The page of a run that measured these figures. */
const pageWith = (...figures: Parameters<typeof compareWith>[1]) =>
  pageOf('A machine.', [
    { title: 'Before it', figures: [{ ...figure('Start', 2, 's', 4), note: 'How to read it.' }] },
    { title: 'Ratios', figures },
  ])

/** The result of the comparison for one figure: its last value, and whether it got worse. */
const said = (last: Parameters<typeof ratio>, now: Parameters<typeof ratio>, of = ratio) => {
  const [compared] = compareWith(pageWith(of(...last)), [of(...now)])
  return [compared?.last, compared?.worse ?? false]
}

test.each([
  ['ratio', ratio, 1, 1.19, ['1.00 times', false]],
  ['ratio', ratio, 1, 1.21, ['WORSE by 21 %: 1.00 times', true]],
  ['ratio', ratio, 1, 0.1, ['1.00 times', false]],
  ['lead', lead, 100, 81, ['100 times', false]],
  ['lead', lead, 100, 79, ['WORSE by 21 %: 100 times', true]],
  ['lead', lead, 100, 900, ['100 times', false]],
  ['reach', reach, 0.9, 0.73, ['90.0 %', false]],
  ['reach', reach, 0.9, 0.7, ['WORSE by 22 %: 90.0 %', true]],
])('a %s that was $2 and is $3', (_name, of, was, is, expected) => {
  expect(said(['It', was], ['It', is], of)).toEqual(expected)
})

test('a figure is found on the page by its name, whatever stands beside it', () => {
  const detailed = { ...lead('One', 40, 20), details: { p99: '9 ms' }, note: 'A | in a note.' }
  const last = pageWith(lead('Other', 90), detailed, ratio('Third', 2, 1))
  const now = [ratio('Third', 2), lead('Other', 90), lead('One', 30)]
  expect(compareWith(last, now).map((each) => each.last)).toEqual([
    '2.00 times',
    '90.0 times',
    'WORSE by 25 %: 40.0 times',
  ])
})

test('a mark on the last page is not taken for a value', () => {
  const first = compareWith(pageWith(ratio('It', 1)), [ratio('It', 2)])
  const [again] = compareWith(pageWith(...first), [ratio('It', 2)])
  expect(again).toMatchObject({ last: '2.00 times' })
  expect(again).not.toHaveProperty('worse')
})

test('reads the page of earlier runs, one table without padding', () => {
  const last = '| What | Measured | Bar | Held |\n|---|---|---|---|\n| It | 1.14 times |  |  |\n'
  expect(compareWith(last, [ratio('It', 3)])).toMatchObject([{ worse: true }])
})

test('what has nothing to be compared with is left as it is', () => {
  const now = [ratio('New', 9), figure('Start', 9, 's'), lead('Other unit', 1)]
  expect(compareWith(undefined, now)).toEqual(now)
  expect(compareWith(pageWith(reach('Other unit', 1)), now)).toEqual(now)
})

test('what compares nothing of its own run is not compared with the last one either', () => {
  const absolute = { what: 'It', value: '3.00 times' }
  expect(compareWith(pageWith(ratio('It', 1)), [absolute])).toEqual([absolute])
})

test('a comparison with nothing, because the last run brought no value, is none', () => {
  const broken = { ...lead('It', 1), value: 'no answer in 60 s' }
  expect(compareWith(pageWith(broken), [lead('It', 1)])).toEqual([lead('It', 1)])
  expect(compareWith(pageWith(lead('It', 1)), [broken])).toEqual([broken])
  expect(compareWith(pageWith(ratio('It', 0)), [ratio('It', 1)])).toEqual([ratio('It', 1)])
})

test('the last line counts what got worse and which bars are not held', () => {
  const last = pageWith(ratio('Worse', 1), ratio('Same', 1))
  const now = [ratio('Worse', 2, 1.5), ratio('Same', 1, 1.5), ratio('New', 5, 1)]
  expect(summaryOf(compareWith(last, now))).toBe(
    '1 of 2 ratios WORSE by more than 20 % than in the committed docs/contributors/benchmarks.md; 2 of 3 bars NOT held.',
  )
})
