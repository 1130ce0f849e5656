/** Small enough that no statement locks many rows for long. */
export const rowsAtOnce = 500

/**
 * Repeats a statement that handles up to `rowsAtOnce` rows, until it finds fewer or the signal aborts.
 * Returns the number of rows.
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
