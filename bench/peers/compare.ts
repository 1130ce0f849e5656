import { rm } from 'node:fs/promises'
import { startPostgres } from '../../sandbox/postgres/postgres.ts'
import { newDataDir } from '../../test/child-store.ts'
import { amountOf, type Figure, figure, lead, quantile } from '../figures.ts'
import { madeOffers, madeQueries } from '../search-load.ts'
import { type Contender, others, self } from './engines.ts'
import type { Report } from './pass.ts'
import { type Running, startEngine, TooLate } from './runner.ts'
import { totalsByScan } from './scan.ts'

/** How many forms the queries have; a pass has equally many queries of each. */
const forms = 7
const queries = 100 * forms
/** How many totals are compared with those of a plain scan, which is slow. */
const scanned = 10 * forms
const rounds = 3
/** A slow engine gets only the first queries in a round, but at least `fewest`. */
const roundMs = 2_000
const fewest = 2 * forms
const firstPassMs = 3_000
/** How long an engine runs before it is timed, to compile code and make query plans. */
const warmUpMs = 1_000
/** The bar: how many times our median must be ahead of each other's. */
const ahead = 20

/**
 * Our search compared with engines that others would pick: the same made offers, the same queries, each
 * engine in a process of its own. Ours and the other alternate, and a ratio is the median of the ratios of
 * the rounds, so a change in the speed of the machine affects both.
 *
 * @param size the number of offers
 */
export async function measurePeers(size: number): Promise<Figure[]> {
  const dataDir = await newDataDir()
  const { databaseUrl, stop } = await startPostgres({ dataDir })
  try {
    const start = ({ name }: Contender) =>
      startEngine({ name, offers: size, queries, firstPassMs, databaseUrl })
    const right = rightTotals(size)
    const us = await start(self)
    try {
      await warmUp(us, queries)
      const passes = await passesOf(us)
      const figures: Figure[] = []
      for (const other of others) {
        const measured = otherFigure(other, start, us, right)
        figures.push(await measured.catch((error) => lateFigure(other, error)))
      }
      passes.push(...(await passesOf(us)))
      return [ourFigure(size, us.report, passes, right), ...figures]
    } finally {
      await us.stop()
    }
  } finally {
    await stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

type Right = (typos: boolean) => readonly number[]

/** The right totals of the first queries, with or without tolerance of typos. */
function rightTotals(size: number): Right {
  const offers = madeOffers(size)
  const asked = madeQueries(offers, queries).slice(0, scanned)
  const totals = [false, true].map((typos) => totalsByScan(offers, asked, { typos }))
  return (typos) => totals[Number(typos)] ?? []
}

async function warmUp(engine: Running, count: number): Promise<void> {
  const until = performance.now() + warmUpMs
  while (performance.now() < until) await engine.ask(count)
}

async function passesOf(us: Running): Promise<(readonly number[])[]> {
  const passes: (readonly number[])[] = []
  for (let round = 0; round < rounds; round += 1) passes.push(await us.ask(queries))
  return passes
}

/** @param passes half of them from before all other engines, half from after them */
function ourFigure(
  size: number,
  report: Report,
  passes: readonly (readonly number[])[],
  right: Right,
): Figure {
  return {
    ...figure(
      `${self.name}, ${size} offers, p50`,
      middle(passes.map((pass) => quantile(pass, 0.5))),
      'µs',
    ),
    details: detailsOf(self, report, passes, right),
    note: `${self.note} ${method}`,
  }
}

async function otherFigure(
  other: Contender,
  start: (contender: Contender) => Promise<Running>,
  us: Running,
  right: Right,
): Promise<Figure> {
  const them = await start(other)
  try {
    const count = roundOf(them.report)
    await warmUp(them, count)
    const passes: (readonly number[])[] = []
    const ratios: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const ours = await us.ask(count)
      const theirs = await them.ask(count)
      passes.push(theirs)
      ratios.push(quantile(theirs, 0.5) / quantile(ours, 0.5))
    }
    return {
      ...lead(behind(other), middle(ratios), ahead),
      details: detailsOf(other, them.report, passes, right),
      note: other.note,
    }
  } finally {
    await them.stop()
  }
}

/** An engine that exceeds its time becomes a row without a ratio; the others still run. */
function lateFigure(other: Contender, error: unknown): Figure {
  if (!(error instanceof TooLate)) throw error
  return { what: behind(other), value: error.message, note: other.note }
}

const behind = ({ name }: Contender) => `${name}, behind ours at p50 by`

const method = `Every engine is given only what is sold, in a process of its own, and is asked the same ${queries} questions until it is warm, and then ${rounds} times in turn with ours; a slow one is asked the first of them only, as many as it answers in about two seconds, and ours is asked as many beside it. The slowest answer is of the first pass too, the other times are not. Totals are compared with a plain scan over all offers by our rules for the first ${scanned} questions, for an engine without typos by the rules without typos. Memory is what the process grew by, garbage taken away, from the offers alone to having answered everything once, or what JavaScript or the database says it keeps, if that is more.`

/** How many queries a round has: equally many of each form, as many as fit into its time. */
function roundOf({ micros }: Report): number {
  let spent = 0
  const within = micros.findIndex((each) => {
    spent += each / 1_000
    return spent > roundMs
  })
  const count = within === -1 ? micros.length : within
  return Math.max(fewest, Math.floor(count / forms) * forms)
}

function detailsOf(
  { typos, facets }: Contender,
  report: Report,
  passes: readonly (readonly number[])[],
  right: Right,
): Record<string, string> {
  const at = (share: number) => middle(passes.map((pass) => quantile(pass, share)))
  const { totals, residentMb, heapMb, outsideMb } = report
  const compared = right(typos).slice(0, totals.length)
  const same = compared.filter((total, place) => total === totals[place]).length
  return {
    p50: amountOf(at(0.5), 'µs'),
    p99: amountOf(at(0.99), 'µs'),
    Slowest: amountOf(Math.max(...report.micros, ...passes.flat()) / 1_000, 'ms'),
    Asked: String(passes[0]?.length ?? 0),
    Build: amountOf(report.buildMs, 'ms'),
    Memory: amountOf(Math.max(residentMb, heapMb, outsideMb ?? 0), 'MB'),
    'In JavaScript': amountOf(heapMb, 'MB'),
    'Totals right': `${same} of ${compared.length}`,
    Typos: typos ? 'yes' : 'no',
    Facets: facets ? 'yes' : 'no',
  }
}

function middle(samples: readonly number[]): number {
  return quantile(samples, 0.5)
}
