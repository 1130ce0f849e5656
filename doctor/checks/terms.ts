import type { Network, PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { findDefaultAsset } from '@x402/evm'
import { isAddress, zeroAddress } from 'viem'
import type { Note, Visit } from '../findings.ts'

/** Whether a stock client can pay under these terms. */
export function checkTerms({ note }: Visit, at: string, { accepts }: PaymentRequired): void {
  if (accepts.length === 0) note('accepts_empty', at)
  for (const [index, terms] of accepts.entries()) {
    const where = `${at}, accepts[${index}]`
    checkAmount(note, where, terms)
    checkTime(note, where, terms)
    checkToken(note, where, terms)
  }
}

function checkAmount(note: Note, where: string, { amount }: PaymentRequirements): void {
  if (typeof amount !== 'string' || !/^[1-9]\d{0,77}$/.test(amount)) {
    note('amount_wrong', where, amount)
  }
}

function checkTime(note: Note, where: string, terms: PaymentRequirements): void {
  const { maxTimeoutSeconds: seconds } = terms
  if (!(seconds >= 10)) note('timeout_short', where, `${seconds} s`)
  else if (seconds > 3_600) note('timeout_long', where, `${seconds} s`)
}

function checkToken(note: Note, where: string, terms: PaymentRequirements): void {
  const { network, asset, payTo, extra } = terms
  if (!/^eip155:[1-9]\d*$/.test(network)) {
    note('network_unknown', where, network)
    return
  }
  if (!isAddress(payTo, { strict: false }) || payTo === zeroAddress)
    note('payee_wrong', where, payTo)
  const known = findDefaultAsset(asset, network as Network)
  if (known === undefined) {
    note('asset_unknown', where, `${asset} on ${network}`)
  } else if (extra?.['name'] !== known.name || extra?.['version'] !== known.version) {
    const said = `"${extra?.['name']}" "${extra?.['version']}"`
    note('asset_domain', where, `${said} instead of "${known.name}" "${known.version}"`)
  }
}
