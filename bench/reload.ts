import { rm } from 'node:fs/promises'
import { launchSupplier } from '../sandbox/supplier/launch.ts'
import { newDataDir } from '../test/child-store.ts'
import { startChild } from './child.ts'
import { amountOf, type Figure, figure, quantile, ratio } from './figures.ts'
import type { Doing, ReloadInput, ReloadTold, Stretch } from './reload-server.ts'

const offers = 200_000
const rounds = 5

/**
 * How much searches slow down while the whole catalog is rebuilt: with new prices only, and with the
 * supplier's list read again. The supplier has a process of its own on the same two cores.
 */
export async function measureReload(): Promise<Figure[]> {
  const dataDir = await newDataDir()
  const webhookUrl = 'http://127.0.0.1:1/'
  const supplier = await launchSupplier({ dataDir, offers, lateSeconds: 0, webhookUrl })
  try {
    const input: ReloadInput = { supplierUrl: supplier.url, apiKey: supplier.apiKey, rounds }
    const child = await startChild<ReloadTold>('reload-server.ts', input)
    await child.stop()
    return figuresOf(child.told)
  } finally {
    await supplier.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

function figuresOf({ rounds: told, megabytes, ...list }: ReloadTold): Figure[] {
  const median = (of: (round: Readonly<Record<Doing, Stretch>>) => number) =>
    quantile(told.map(of), 0.5)
  const p99 = (doing: Doing) => median((round) => round[doing].p99)
  const growth = (doing: Doing) => median((round) => round[doing].p99 / round.nothing.p99)
  const due = (doing: Doing) => median((round) => round[doing].dueP99)
  const seconds = (doing: Doing) => median((round) => round[doing].seconds)
  const longest = (doing: Doing) => median((round) => round[doing].longest / 1_000)
  const row = (what: string, doing: Doing) => ({
    ...figure(what, p99(doing), 'µs'),
    details: {
      'p99 from when due': amountOf(due(doing), 'µs'),
      Longest: amountOf(longest(doing), 'ms'),
    },
  })
  return [
    { ...row(`Searches while nothing else happens, ${list.offers} offers, p99`, 'nothing'), note },
    row('Searches while prices are worked out anew, p99', 'repricing'),
    row('Searches while the supplier’s list is read and built, p99', 'refreshing'),
    ratio('p99 while prices are worked out, against nothing else', growth('repricing'), 1.2),
    ratio('p99 while a list is read and built, against nothing else', growth('refreshing'), 1.2),
    figure('Working out prices anew, beside searches', seconds('repricing'), 's'),
    figure('Reading and building the list, beside searches', seconds('refreshing'), 's'),
    figure('Memory of that process with one catalog', megabytes.atRest, 'MB', 400),
    figure('The same at most, with another one in the making', megabytes.most, 'MB', 400),
  ]
}

const note = `Two thousand searches a second with total, page and facets. A search takes what it takes; from when it was due, it also waits for whatever held the process up, and in a second of two thousand searches ten milliseconds of that are the slowest hundredth; ${rounds} rounds of some seconds, each with nothing else to do, with new prices, and with the whole list read anew, whose ratios are taken within the round. The offers are those of the sandbox’s supplier, of all three kinds, and its process has the same two cores.`
