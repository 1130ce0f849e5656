import type { Html } from '../frame/html.ts'

// Written by texts.test.ts. After a change in en.json: npm exec -- vitest run src/web/texts -u

/** What each message with values takes. */
export interface TextValues {
  'frame.copyOf': { what: string }
  'messages.reference': { id: string }
  'messages.retry': { seconds: number }
  'offers.range': { least: string; most: string }
  'offers.price': { usdc: string }
  'offers.priceFrom': { usdc: string }
  'offers.number': { id: string }
  'offers.about': { money: string }
  'offers.coinOn': { coin: string; network: string }
  'offers.units.day': { count: number }
  'offers.units.minute': { count: number }
  'offers.units.message': { count: number }
  'home.brandOffers': { brand: string; count: number }
  'home.kindAll': { count: number }
  'home.payUsdc': { network: string }
  'search.range': { from: number; to: number; total: number }
  'search.filtersChosen': { count: number }
  'search.more': { count: number }
  'search.page': { page: number; pages: number }
  'search.understood': { title: string }
  'search.nearest': { value: string }
  'search.atLeast': { money: string }
  'search.atMost': { money: string }
  'search.without': { name: string }
  'search.otherKind': { kind: string; count: number }
  'search.beyond': { pages: number }
  'search.title.words': { words: string; kind: string }
  'search.title.place': { kind: string; place: string }
  'search.title.both': { words: string; kind: string; place: string }
  'search.description': { kind: string; count: number }
  'search.description.place': { kind: string; place: string; count: number }
  'search.bandAbove': { min: string }
  'search.faults.kind': { given: string }
  'search.faults.country': { given: string }
  'search.faults.country.code': { given: string; meant: string }
  'search.faults.category': { given: string }
  'search.faults.region': { given: string }
  'search.faults.bound': { given: string }
  'search.faults.max': { given: string; meant: string }
  'search.faults.amount': { given: string }
  'search.faults.sort': { given: string }
  'search.faults.page': { given: string }
  'search.didYouMean': { meant: string }
  'how.wallet': { network: string }
  'how.coins': { coins: string }
  'how.wrong.little.text': { least: string }
  'how.wrong.much.text': { least: string }
  'terms.promises.payments': { least: string }
  'bought.item': { brand: string; kind: string }
  'buy.choose': { least: string; most: string; step: string }
  'buy.paidOn': { network: string }
  'buy.orCoins': { coins: string }
  'buy.whenText': { minutes: number }
  'buy.coverageAll': { count: number }
  'buy.stepPayText': { network: string }
  'buy.summary': { amount: string }
  'buy.choices.voucher': { brand: string; place: string }
  'buy.choices.topup': { brand: string; place: string }
  'buy.choices.esim': { brand: string; place: string }
  'form.receives': { money: string }
  'form.range': { least: string; most: string; step: string }
  'form.rangeCost': { markup: number }
  'form.rangeCostBetween': { least: string; most: string }
  'form.phone': { country: string; code: string }
  'form.wallet': { network: string }
  'form.about': { amount: string; coin: string }
  'form.refundTo': { coin: string }
  'form.network': { network: string; coin: string }
  'form.refundMissing': { coin: string }
  'form.refundWrong': { coin: string }
  'form.didYouMean': { value: string }
  'form.dearer': { price: string }
  'form.unpaid': { count: number; coin: string }
  'form.cameToNothing': { minutes: number }
  'wallet.pay': { amount: string }
  'wallet.payOpen': { wallet: string }
  'wallet.connecting': { wallet: string }
  'wallet.switching': { wallet: string; network: string }
  'wallet.balance': { amount: string }
  'wallet.signing': { wallet: string; amount: string; store: string }
  'wallet.didYouMean': { value: string }
  'wallet.readAs': { value: string }
  'wallet.faults.dearer': { amount: string }
  'wallet.faults.connectRejected': { wallet: string }
  'wallet.faults.connectPending': { wallet: string }
  'wallet.faults.wrongNetwork': { wallet: string; network: string }
  'wallet.faults.noBalance': { balance: string; network: string; amount: string }
  'wallet.faults.signRejected': { wallet: string }
  'wallet.faults.walletBroken': { wallet: string; reason: string }
  'wallet.faults.refused': { reason: string }
  'pay.stages.expired.text': { least: string }
  'pay.arrived': { seen: string; whole: string }
  'pay.worth': { usdc: string }
  'pay.rate': { coin: string; rate: string }
  'pay.minutesLeft': { minutes: number }
  'pay.address': { network: string }
  'pay.networkOnly': { coin: string; network: string }
  'pay.small': { most: string }
  'pay.left': { time: string }
  'orders.notPaidIn': { coin: string; most: string }
  'orders.locked.old': { days: number }
  'orders.keep.textFor': { days: number }
  'orders.esim.qr': { lpa: string }
  'orders.refund.worth': { coin: string; usd: string }
  'orders.refund.tooOften': { minutes: number }
  'find.list.more': { shown: number; total: number }
  'mail.subject': { store: string }
  'mail.subjectOne': { store: string; order: string }
  'mail.order': { id: string; date: string }
  'mail.good': { until: string; url: string }
}

/** What each message with tags takes. */
export interface MarkupValues {
  'home.stepReadText': { link: (content: Html) => Html }
  'home.errors': { link: (content: Html) => Html }
  'how.helpText': { link: (content: Html) => Html; contact: string | Html }
  'terms.elsewhere': { link: (content: Html) => Html; url: string | Html }
  'terms.contact': { link: (content: Html) => Html; contact: string | Html }
  'buy.people': { link: (content: Html) => Html }
  'buy.fixed': { data: (content: Html) => Html; usdc: string | Html }
  'buy.range': { least: string | Html; to: (content: Html) => Html; most: string | Html }
  'pay.late': { time: (content: Html) => Html; until: string | Html }
  'pay.rateHeld': { time: (content: Html) => Html; until: string | Html }
  'orders.steps.latest': { time: (content: Html) => Html; until: string | Html }
  'api.noScript': { link: (content: Html) => Html }
}
