/** What is said of money that goes back from a checkout, after its amount. */
export const returned = {
  transaction: 'Transaction of the return',
  words: {
    DUE: 'is about to be sent back',
    SENDING: 'is being sent back',
    SENT: 'was sent back in the transaction',
    FAILED: 'could not be sent back yet; whoever runs the store looks into it',
  },
  whys: {
    underpaid: 'it was less than the price',
    late: 'it came too late',
    surplus: 'it was more than the price',
  },
}
