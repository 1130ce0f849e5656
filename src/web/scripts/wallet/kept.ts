/** A signed payment whose outcome is not known yet. */
export interface KeptPayment {
  readonly purchaseUrl: string
  /** The body of the purchase as it was sent, so that it is identical when it is sent again. */
  readonly body: string
  readonly header: string
  readonly key: string
}

/** The storage that all tabs of a browser share, and that outlives them. */
export interface BrowserStorage {
  getItem(name: string): string | null
  setItem(name: string, value: string): void
  removeItem(name: string): void
}

/**
 * Remembers a signed payment for an offer until its outcome is known. Meanwhile no other payment is signed for this
 * offer, so nobody pays twice by reloading the page, opening it in another tab, or closing it during the payment and
 * coming back.
 *
 * @param storageOf throws in browsers that are set to store nothing
 */
export function keeping(storageOf: () => BrowserStorage, offerId: string) {
  const name = `kiosk402-payment ${offerId}`
  const find = (): KeptPayment | undefined => {
    const text = isPossible() ? storageOf().getItem(name) : null
    // Only `keep` writes this entry.
    return text === null ? undefined : (JSON.parse(text) as KeptPayment)
  }
  /** Whether this browser allows storage for this site. */
  const isPossible = (): boolean => {
    try {
      storageOf().setItem('kiosk402-probe', '')
      storageOf().removeItem('kiosk402-probe')
      return true
    } catch {
      return false
    }
  }
  return {
    find,
    isPossible,
    /** Stores a payment. False if another tab was first: its payment stays, and this one must not be sent. */
    keep(payment: KeptPayment): boolean {
      if (find() !== undefined) return false
      storageOf().setItem(name, JSON.stringify(payment))
      return true
    },
    /** Removes this payment, and never one that another tab has stored since. */
    forget(payment: KeptPayment): void {
      if (find()?.header === payment.header) storageOf().removeItem(name)
    },
  }
}

export type Kept = ReturnType<typeof keeping>
