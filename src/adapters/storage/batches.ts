/** Small enough that no statement holds many rows for long. */
export const rowsAtOnce = 500

/**
 * Repeats a statement that takes `rowsAtOnce` rows until it finds fewer, or the signal says stop. Returns
 * how many it took.
 */
export async function inBatches(
  batch: () => Promise<{ readonly rowCount: number | null }>,
  signal?: AbortSignal,
): Promise<number> {
  let total = 0
  for (;;) {
    const { rowCount } = await batch()
    const done = rowCount ?? 0
    total += done
    if (done < rowsAtOnce || signal?.aborted) return total
  }
}
