/**
 * Everything that paying from a wallet says. The script gets it from the page, so that it speaks the
 * language of the page; what stands in braces is put in there.
 */
export const wallet = {
  none: 'No wallet was found in this browser. Install one, such as Rabby, MetaMask or Coinbase Wallet, and load this page again; or open this page in the browser of your wallet app.',
  choose: 'Choose a wallet.',
  /** What follows where the store takes coins, too. */
  inCoins: {
    none: 'Or pay in one of the coins below: that works from any wallet, on any device.',
    noBalance: 'Or pay in one of the coins below.',
  },
  pay: 'Pay {amount} USDC',
  payOpen: 'Pay with {wallet}',
  again: 'Try again',
  checking: 'Asking the store for the exact price…',
  connecting: 'Open {wallet} and allow this page to see your address.',
  switching: 'Allow {wallet} to change to {network}.',
  balance: 'Looking whether the wallet has {amount} USDC…',
  signing: 'Look at it in {wallet}: {amount} USDC to {store}. Sign it to pay. It costs no fee.',
  paying: 'Signed. Your payment is on its way; please leave this page open.',
  resuming: 'You have signed a payment here before. Asking the store what became of it…',
  retrying: 'The store did not answer. Your payment is kept and sent again; nothing is paid twice.',
  paid: 'Paid. Opening your order…',
  kept: 'Send the same payment again',
  didYouMean: 'Did you mean {value}?',
  readAs: 'We read this as {value}. If that is right, press the button again.',
  faults: {
    form: 'Please look at what is marked above. Nothing was paid.',
    offline: 'The store cannot be reached. Nothing was paid. Check your connection and try again.',
    notNow: 'The store cannot take this just now. Nothing was paid. Try again in a minute.',
    paused: 'The store takes no new orders just now. Nothing was paid.',
    notSold: 'This offer is not sold any more, or not now. Nothing was paid.',
    dearer:
      'The price is {amount} USDC now, which is more than this page said. Nothing was paid. Press the button again if you still want it.',
    mismatch:
      'The store asked for something else than this page says, so nothing was signed and nothing was paid. Load the page again; if it happens again, tell the store.',
    connectRejected: 'You did not allow it in {wallet}. Nothing was paid. Try again when you like.',
    connectPending:
      '{wallet} still waits for an answer from you. Open it, answer there, then try again.',
    wrongNetwork:
      '{wallet} is on another network. Change it to {network} in the wallet, then try again. Nothing was paid.',
    noBalance:
      'This wallet has {balance} USDC on {network}, and the price is {amount} USDC. Nothing was signed. Add USDC on {network}, or use another account.',
    signRejected: 'You did not sign in {wallet}. Nothing was paid. Try again when you like.',
    walletBroken: '{wallet} could not do it: {reason}. Nothing was paid.',
    expired:
      'It took too long, and the signature ran out before it reached the store. Nothing was paid. Try again.',
    refused: 'The payment was not taken: {reason}. Nothing was paid. Try again.',
    limited:
      'This is above the spending limit that the owner of this wallet has set in this store. Nothing was paid.',
    unknown:
      'The store does not answer, so it is not known yet whether your payment arrived. It is kept here. Send it again: the very same payment cannot be taken twice.',
  },
} as const

type Written<T> = { readonly [K in keyof T]: T[K] extends string ? string : Written<T[K]> }

/** What every language has to say. */
export type WalletTexts = Written<typeof wallet>
