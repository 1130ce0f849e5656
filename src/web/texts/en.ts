import { api } from './en/api.ts'
import { bought } from './en/bought.ts'
import { buy } from './en/buy.ts'
import { errorTexts } from './en/error-codes.ts'
import { errors } from './en/errors.ts'
import { find, mails } from './en/find.ts'
import { form } from './en/form.ts'
import { frame } from './en/frame.ts'
import { home, homeKinds } from './en/home.ts'
import { how } from './en/how.ts'
import { messages } from './en/messages.ts'
import { offers } from './en/offers.ts'
import { orders } from './en/orders.ts'
import { outcomeSections } from './en/outcomes.ts'
import { pay } from './en/pay.ts'
import { returned } from './en/returned.ts'
import { closedLinks, deliveryNames, reveal } from './en/reveal.ts'
import { search } from './en/search.ts'
import { terms } from './en/terms.ts'
import { wallet } from './en/wallet.ts'

/**
 * Everything the website says, in English, by the page that says it. Pages get it as an argument, so
 * another language is one more folder beside `en` and one more value of the type below.
 */
export const en = {
  frame,
  messages,
  offers,
  home,
  homeKinds,
  search,
  how,
  terms,
  bought,
  buy,
  form,
  wallet,
  pay,
  returned,
  reveal,
  deliveryNames,
  closedLinks,
  errors,
  errorTexts,
  outcomeSections,
  api,
  orders,
  find,
  mails,
}

/** What every language has to say. */
export type Texts = typeof en
