import type { Figure } from './figures.ts'

/** Relative figures that got worse by more than this share of their last value are marked. */
const noise = 0.2

/** A figure with its value on the last page. */
export interface Compared extends Figure {
  /** Its last value; absent if the last page does not have the figure. */
  readonly last?: string
  readonly worse?: boolean
}

/**
 * Adds to each relative figure its value on the last page, and marks those that got worse by more than a
 * fifth. Absolute figures are not compared, because they depend on the machine.
 *
 * @param lastPage the last text of docs/contributors/benchmarks.md; undefined if there was none
 */
export function compareWith(lastPage: string | undefined, figures: readonly Figure[]): Compared[] {
  const last = valuesOn(lastPage ?? '')
  return figures.map((figure) => {
    const was = last.get(figure.what)
    return figure.better === undefined || was === undefined ? figure : beside(figure, was)
  })
}

function beside(figure: Figure, was: string): Compared {
  const [before, now] = [relativeIn(was), relativeIn(figure.value)]
  if (before === undefined || now === undefined || before.unit !== now.unit) return figure
  if (before.amount === 0) return figure
  const change = (now.amount - before.amount) / before.amount
  const worseBy = figure.better === 'less' ? change : -change
  return worseBy > noise
    ? { ...figure, last: `WORSE by ${Math.round(worseBy * 100)} %: ${was}`, worse: true }
    : { ...figure, last: was }
}

function relativeIn(value: string): { amount: number; unit: string } | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?) (times|%)$/.exec(value) ?? []
  return amount === undefined ? undefined : { amount: Number(amount), unit }
}

/** The measured value of each row of the page's tables, by the name of the row. */
function valuesOn(page: string): Map<string, string> {
  const values = new Map<string, string>()
  let measuredAt = -1
  for (const line of page.split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim())
    const [, what = ''] = cells
    if (what === 'What') measuredAt = cells.indexOf('Measured')
    else if (line.startsWith('|')) values.set(what, cells[measuredAt] ?? '')
  }
  return values
}

/** One line with the number of regressions, and of bars that are not held. */
export function summaryOf(figures: readonly Compared[]): string {
  const count = (test: (figure: Compared) => boolean) => figures.filter(test).length
  const compared = count(({ last }) => last !== undefined)
  const worse = count((figure) => figure.worse === true)
  const bars = count(({ bar }) => bar !== undefined)
  const held = count((figure) => figure.held === true)
  return `${worse} of ${compared} ratios WORSE by more than ${noise * 100} % than in the committed docs/contributors/benchmarks.md; ${bars - held} of ${bars} bars NOT held.`
}
