import type { X402Refund } from './payment.ts'
import type { Rail } from './ports.ts'

const notConnected = 'Its network is not connected.'

/**
 * One rail over the chains of all networks, by their CAIP-2 ids. A payment and its refund stay on the network
 * that the payment names. Nothing is known of a network that is not connected, so its orders wait.
 */
export function railOfNetworks(chains: ReadonlyMap<string, Rail>): Rail {
  const on = ({ network }: { readonly network: string }) => chains.get(network)
  const [first] = chains.values()
  // A refund that names no network was signed when there was only one.
  const ofRefund = ({ network }: X402Refund) => (network === undefined ? first : on({ network }))
  return {
    isSignedByPayer: async (tender) => (await on(tender)?.isSignedByPayer(tender)) ?? false,
    isUnused: async (tender) => (await on(tender)?.isUnused(tender)) ?? false,
    check: async (tender) =>
      (await on(tender)?.check(tender)) ?? {
        outcome: 'unknown',
        reason: notConnected,
        charged: 'unknown',
      },
    collect: async (tender, how) =>
      (await on(tender)?.collect(tender, how)) ?? { outcome: 'unknown', reason: notConnected },
    confirmationOf: async (tender, receipt) =>
      (await on(tender)?.confirmationOf(tender, receipt)) ?? 'unknown',
    async signRefund(due) {
      const chain = on(due.tender)
      if (!chain) throw new Error(`The network ${due.tender.network} is not connected`)
      return { ...(await chain.signRefund(due)), network: due.tender.network }
    },
    payBack: async (refund) =>
      (await ofRefund(refund)?.payBack(refund)) ?? { outcome: 'pending', reason: notConnected },
  }
}
