/** What is said of a purchase, wherever one is shown: before paying, on its order and in mails. */
export const bought = {
  title: 'You’re buying',
  titleOver: 'Order',
  country: 'Country',
  worksIn: 'Works in',
  phone: 'Phone number',
  receives: 'Recipient gets',
  chosen: 'Value you chose',
  fairUse: 'Fair use',
  price: 'Price',
  change: 'Change',
}
