/** What is said of money that goes back from a checkout, after its amount. */
export const returned = {
  transaction: 'Transaction of the return',
  words: {
    DUE: 'is about to be refunded',
    SENDING: 'is being refunded',
    SENT: 'was refunded in the transaction',
    FAILED: 'could not be refunded yet; our team is looking into it',
  },
  whys: {
    underpaid: 'underpaid',
    late: 'seen too late',
    surplus: 'overpaid',
  },
}
