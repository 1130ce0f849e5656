import type { Rail } from './ports.ts'

const notConnected = 'Its network is not connected.'

/** A payment and its refund stay on their network. Nothing is known of one that is not connected: its orders wait. */
export function railOfNetworks(chains: ReadonlyMap<string, Rail>): Rail {
  const on = ({ network }: { readonly network: string }) => chains.get(network)
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
      return chain.signRefund(due)
    },
    payBack: async (refund) =>
      (await on(refund)?.payBack(refund)) ?? { outcome: 'pending', reason: notConnected },
  }
}
