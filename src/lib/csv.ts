export type Cell = string | number | bigint | boolean | Date | null | undefined

/** A cell that begins so is a formula to spreadsheets (OWASP, "CSV Injection"); a plain number is none. */
const formula = /^[=+\-@\t\r]/
const plainNumber = /^-?\d+(\.\d+)?$/

/** One record of RFC 4180 with its line break. An apostrophe makes text of what would be a formula. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

function cellOf(cell: Cell): string {
  const text = cell instanceof Date ? cell.toISOString() : String(cell ?? '')
  const safe = formula.test(text) && !plainNumber.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
