import { rm } from 'node:fs/promises'
import { newDataDir, startChildStore } from '../test/child-store.ts'
import { type Figure, figure, quantile } from './figures.ts'

const rounds = 3

/** How long the store takes to start for the first time, to start again with its data, and to stop. */
export async function measureStart(): Promise<Figure[]> {
  const first: number[] = []
  const again: number[] = []
  const stop: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const dataDir = await newDataDir()
    for (const times of [first, again]) {
      const store = await startChildStore({ dataDir })
      times.push(store.readyInMs / 1_000)
      stop.push((await store.stop()).ms / 1_000)
    }
    await rm(dataDir, { recursive: true, force: true })
  }
  return [
    figure('Start to ready, nothing there yet (median of 3)', quantile(first, 0.5), 's', 10),
    figure('Start to ready, warm database (median of 3)', quantile(again, 0.5), 's', 4),
    figure('SIGTERM to everything stopped (median of 6)', quantile(stop, 0.5), 's', 10),
  ]
}
