import type { Checked } from './verify-receipt.ts'

/** What a receipt with a valid signature proves. */
export function provenLines({ claims, kid, goods }: Checked): string[] {
  const { payment, refund } = claims
  return [
    `Proven: ${claims.iss} has signed on ${dateOf(claims.iat)}, with its key ${kid}, that`,
    `  order ${claims.sub} for the ${claims.kind} ${claims.offerId} (${claims.brandName}) was placed at ${claims.placed_at}`,
    `  and paid with ${payment.amount_atomic} atomic units of ${payment.asset} on ${payment.network}`,
    `  by ${payment.payer} to ${payment.payTo} in transaction ${payment.transaction};`,
    `  its state is ${claims.state} since ${claims.state_updated_at}.`,
    ...deliveryLines(claims, goods),
    ...(refund === undefined ? [] : [`  ${refundLine(refund)}`]),
  ]
}

/** What the receipt does not prove, so that nobody relies on it for that. */
export function notProvenLines({ claims, keysFrom, goods }: Checked): string[] {
  const { payment, delivery } = claims
  return [
    'Not proven:',
    `  that ${claims.iss} is the store you mean: the keys are those of ${keysFrom};`,
    `  that the money moved: look up transaction ${payment.transaction} on ${payment.network};`,
    ...(payment.settlement === 'seen'
      ? ['  that it stayed: its block was so new that the chain could still drop it;']
      : []),
    ...(delivery !== undefined && goods === undefined
      ? ['  what was delivered: the goods are not shown here, only their salted hash;']
      : []),
    '  what became of the order later.',
  ]
}

function deliveryLines({ delivery }: Checked['claims'], goods: string | undefined): string[] {
  if (delivery === undefined) return ['  Nothing was delivered.']
  return goods !== undefined
    ? ['  The goods shown here are exactly those that were delivered:', `    ${goods}`]
    : [`  Goods were delivered whose salted SHA-256 is ${delivery.sha256}.`]
}

function refundLine({
  state,
  amount_atomic,
  transaction,
}: NonNullable<Checked['claims']['refund']>) {
  const where = transaction === undefined ? '' : ` in transaction ${transaction}`
  return `The refund of ${amount_atomic} atomic units to the payer is ${state}${where}.`
}

function dateOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString()
}

/** Escapes control and format characters, which can move a terminal's cursor or reverse the text. */
export function printable(line: string): string {
  return line.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}
