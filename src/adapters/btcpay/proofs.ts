/**
 * The transaction in the proof of a payout. Where it is depends on the payout: in `id` if it was noted by
 * hand, in `transactionId` if BTCPay sent it, or at the end of a link to an explorer. Undefined if the proof
 * names none.
 */
export function transactionOfProof(proof: Record<string, unknown> | null | undefined) {
  const entries = Object.entries(proof ?? {}).map(([key, value]) => [key.toLowerCase(), value])
  const fields: Record<string, unknown> = Object.fromEntries(entries)
  const named = [fields['transactionid'], fields['id']].find(isTransaction)
  return named ?? transactionInLink(fields['link'])
}

function isTransaction(value: unknown): value is string {
  return typeof value === 'string' && /^(0x)?[0-9a-f]{64}$/i.test(value)
}

function transactionInLink(link: unknown): string | undefined {
  if (typeof link !== 'string' || link.length > 500) return undefined
  return link.split(/[/?#=]/).findLast(isTransaction)
}
