import { countryName } from '../../catalog/countries.ts'
import type { Coverage } from '../../catalog/esim.ts'
import type { Offer } from '../../catalog/offer.ts'
import { type Html, html } from '../frame/html.ts'
import { moneyText } from '../shop/money-text.ts'
import { allowanceFacts, counted, type Fact, kindName, placeName } from '../shop/offer-words.ts'
import type { Texts } from '../texts/en.ts'

/** A list of countries longer than this is folded away. */
const countriesShown = 12

/** All that is known of an offer, in a list that reads by itself, and what its texts say. */
export function aboutSection(offer: Offer, texts: Texts): Html {
  const { buy } = texts
  return html`<section class="about" aria-labelledby="facts">
<h2 id="facts">${buy.facts}</h2>
${offer.shortNotes && html`<p class="short" dir="auto">${offer.shortNotes}</p>`}
<dl class="facts">
${factsOf(offer, texts).map(
  ({ name, value }) => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
)}</dl>
${offer.kind === 'esim' && offer.coverage.length > 1 && coverageList(offer.coverage, texts)}
${textBlock(buy.notes, offer.notes)}
${offer.kind === 'voucher' && textBlock(buy.redeem, offer.redemptionInstructions)}
${offer.kind === 'voucher' && textBlock(buy.description, offer.description)}
</section>`
}

function factsOf(offer: Offer, texts: Texts): Fact[] {
  const { factNames } = texts.buy
  const makerNames = {
    voucher: factNames.brand,
    topup: factNames.operator,
    esim: factNames.provider,
  }
  const facts: (Fact | undefined)[] = [
    { name: factNames.kind, value: kindName(offer, texts) },
    { name: makerNames[offer.kind], value: offer.brandName },
    valueFact(offer, texts),
    ...(offer.kind === 'voucher' ? [] : allowanceFacts(offer.allowance, texts)),
    {
      name: offer.kind === 'esim' ? factNames.worksIn : factNames.country,
      value: placeName(offer, texts),
    },
    listFact(factNames.regions, offer.regions),
    offer.kind === 'topup'
      ? undefined
      : listFact(offer.kind === 'esim' ? factNames.tier : factNames.category, offer.subTypes),
    offer.kind === 'esim' ? listFact(factNames.speeds, speedsOf(offer.coverage)) : undefined,
    { name: factNames.id, value: offer.id },
  ]
  return facts.filter((fact) => fact !== undefined)
}

function valueFact(offer: Offer, texts: Texts): Fact | undefined {
  const { factNames } = texts.buy
  if (offer.kind === 'esim') return undefined
  const value = moneyText(offer.faceValue ?? offer.price, texts)
  if (offer.kind === 'topup') {
    return offer.faceValue === undefined ? undefined : { name: factNames.credited, value }
  }
  return { name: offer.price.type === 'RANGE' ? factNames.values : factNames.value, value }
}

function listFact(name: string, values: readonly string[]): Fact | undefined {
  return values.length === 0 ? undefined : { name, value: values.join(', ') }
}

function speedsOf(coverage: readonly Coverage[]): string[] {
  return [...new Set(coverage.flatMap(({ speeds }) => speeds))].sort()
}

function coverageList(coverage: readonly Coverage[], texts: Texts): Html {
  const named = coverage
    .map(({ country, speeds }) => ({ name: countryName(country), speeds: speeds.join(', ') }))
    .sort((one, other) => one.name.localeCompare(other.name, texts.offers.numbers))
  const list = html`<ul class="coverage">
${named.map(
  ({ name, speeds }) => html`<li>${name} <small>${speeds}</small></li>
`,
)}</ul>`
  const isLong = named.length > countriesShown
  return html`<h3>${texts.buy.coverage}</h3>
${
  isLong
    ? html`<details><summary>${texts.buy.coverageAll(counted(named.length, 'country', texts))}</summary>${list}</details>`
    : list
}`
}

/** A text as the supplier sent it: its blank lines part paragraphs, its breaks stay. */
function textBlock(title: string, text: string | undefined): Html | undefined {
  if (text === undefined) return undefined
  const paragraphs = text.split(/\n{2,}/).filter((part) => part.trim() !== '')
  return html`<h3>${title}</h3>
${paragraphs.map(
  (part) => html`<p class="said" dir="auto">${part}</p>
`,
)}`
}
